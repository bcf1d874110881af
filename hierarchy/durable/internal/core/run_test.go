package core

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
