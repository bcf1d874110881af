package time_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/compat/time"
)

// handClock is a clock that tests move. Its alarm rings when they say so.
type handClock struct {
	elapsed time.Duration
	ring    func()
}

func (c *handClock) Now() time.Time                       { return time.Unix(0, int64(c.elapsed)) }
func (c *handClock) Elapsed() time.Duration               { return c.elapsed }
func (c *handClock) NewAlarm(ring func()) (a clock.Alarm) { c.ring = ring; return c }
func (c *handClock) Set(time.Duration)                    {}
func (c *handClock) Stop()                                {}

func (c *handClock) moveTo(elapsed time.Duration) {
	c.elapsed = elapsed
	c.ring()
}

// The channel of a Timer gets the time when it was due, however late the wheel wakes. So does that
// of a time.Timer, which is sent to when somebody receives from it.
func TestTimerSendsTheTimeWhenItWasDue(t *testing.T) {
	c := &handClock{elapsed: time.Hour}
	p := process.New(c)
	defer p.Stop()
	defer process.Use(p)()
	const d = 3 * time.Millisecond
	timer, again, other := time.NewTimer(d), time.NewTimer(time.Hour), time.NewTimer(d+1)
	require.True(t, again.Reset(2*d))
	c.moveTo(time.Hour + 9*d)
	for x, due := range map[*time.Timer]time.Duration{timer: d, again: 2 * d, other: d + 1} {
		require.Equal(t, time.Unix(0, int64(time.Hour+due)), <-x.C)
	}
	require.False(t, timer.Reset(d))
	c.moveTo(time.Hour + 20*d)
	require.Equal(t, time.Unix(0, int64(time.Hour+10*d)), <-timer.C)
	require.False(t, timer.Reset(-d))
	require.Equal(t, c.Now(), <-timer.C)
}
