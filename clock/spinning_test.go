package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// An alarm of a spinning clock never rings early, and spinning ends.
func TestSpinningIsNeverEarly(t *testing.T) {
	c := clock.Spinning(200 * time.Microsecond)
	rang := make(chan time.Duration)
	a := c.NewAlarm(func() {
		select {
		case rang <- c.Elapsed():
		case <-t.Context().Done(): // the last ring may come before Stop
		}
	})
	t.Cleanup(a.Stop)
	for i := range 50 {
		aim := c.Elapsed() + time.Duration(i)*37*time.Microsecond
		a.Set(aim)
		require.GreaterOrEqual(t, <-rang, aim)
	}
	a.Set(c.Elapsed() + time.Hour)
	a.Set(c.Elapsed())
	<-rang
	a.Set(c.Elapsed() + 300*time.Microsecond)
	a.Stop()
}

// In a bubble time stands still while a goroutine runs. The alarm then stops spinning.
func TestSpinningInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Spinning(time.Millisecond)
		rang := make(chan time.Duration)
		a := c.NewAlarm(func() { rang <- c.Elapsed() })
		for _, d := range []time.Duration{0, 1, time.Millisecond, time.Hour} {
			aim := c.Elapsed() + d
			a.Set(aim)
			require.Equal(t, aim, <-rang)
		}
		a.Set(c.Elapsed() + time.Second)
		a.Set(c.Elapsed() + time.Minute)
		aim := c.Elapsed() + time.Minute
		require.Equal(t, aim, <-rang)
	})
}
