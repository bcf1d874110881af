package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// Durations count from the call, by the clock of the timers: a mock clock stands still while messages are
// on their way. What passes on it before a copy gets through has passed for the timer.
func TestDurationsGoByTheClock(t *testing.T) {
	b := newBench(t)
	mock := clock.NewMock()
	b.part.Clock, b.cfg.Clock = mock, mock
	b.own()
	c, net := b.far()
	remaining := func(k string) time.Duration {
		_, in, ok, err := c.Get(t.Context(), 0, []byte(k))
		b.NoError(err)
		b.True(ok)
		return in
	}
	for range 20 {
		b.do(c, setOp("a", ""))
		b.Equal(time.Hour, remaining("a"))
	}
	c.quiet = time.Hour // the copy comes after the mock has moved
	sent := net.Messages.Load()
	first := true
	net.setFate(func(answer bool) time.Duration {
		if first && !answer {
			first = false
			mock.Add(10 * time.Minute)
			go c.Moved(0)
			return lost
		}
		return 0
	})
	b.do(c, setOp("a", ""))
	b.Equal(50*time.Minute, remaining("a"))
	b.Less(sent+1, net.Messages.Load())

	first = true
	op := setOp("b", "")
	op.In, op.Quiet, op.Longest = 0, 2*time.Hour, 90*time.Minute
	b.do(c, op)
	b.Equal(80*time.Minute, remaining("b"))
}

// That a computer has slept shows in its wall clock alone. The monotonic clock, by which times are compared that have its
// reading, stands still meanwhile.
func TestReadingsOfTheWallClock(t *testing.T) {
	now := clock.System().Now()
	require.NotEqual(t, now.Round(0), now)
	wall := readClocks(clock.System()).wall
	require.Equal(t, wall.Round(0), wall)
}
