package core

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

func TestMissedRunsAreCounted(t *testing.T) {
	const second = int64(time.Second)
	for text, from := range map[string]int64{
		"@every 7s": 3, "*/10 * * * * *": 0, "CRON_TZ=Europe/Berlin 30 2 * * *": 0, "0 0 29 2 *": 0, "* * * * * *": 0, "@every 1h": 5,
	} {
		s, err := schedule.Parse(text)
		require.NoError(t, err)
		due, _ := nextRun(s, from)
		for _, later := range []int64{-1, 0, 1, second, 60 * second, 3600 * second, 86400 * 40 * second, 86400 * 366 * 9 * second} {
			now := due + later
			if later > 1e16 && !strings.Contains(text, " 2 *") {
				continue // too many to count them here
			}
			last, n := due, 0
			next, ok := nextRun(s, due)
			for ; ok && next <= now; next, ok = nextRun(s, next) {
				last = next
				n++
			}
			gotLast, got := missedRuns(s, due, now)
			require.Equal(t, n, got, "%s after %v", text, time.Duration(later))
			require.Equal(t, last, gotLast, "%s after %v", text, time.Duration(later))
			gotNext, gotOK := following(s, due, now)
			require.Equal(t, ok, gotOK)
			require.Equal(t, next, gotNext, "%s after %v", text, time.Duration(later))
		}
	}
	s, err := schedule.Parse("* * * * * *")
	require.NoError(t, err)
	last, n := missedRuns(s, 0, 1e18+5)
	require.Equal(t, int64(1e18), last)
	require.Equal(t, int(1e9), n)
}

// Times without an owner are known as long as the log has them.
func TestGapsAreForgotten(t *testing.T) {
	b := newBench(t)
	read := func(number, epoch, begin uint64) {
		b.attended(&frame.Frame{Header: frame.Header{Number: number, Epoch: epoch, Begin: begin, Time: int64(number)}})
	}
	for number, epoch := range []uint64{2: 1, 3: 3, 4: 3, 5: 5, 6: 6, 7: 6} {
		if epoch > 0 {
			read(uint64(number), epoch, 1)
		}
	}
	b.Equal([]gap{{2, 2, 3}, {4, 4, 6}}, b.gaps)
	read(8, 6, 4)
	b.Equal([]gap{{4, 4, 6}}, b.gaps)
	read(9, 6, 5)
	b.Empty(b.gaps)
}
