package clock_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// In a bubble Precise returns System, so a wheel made there with the zero Config follows
// the bubble's time exactly. Outside, before and after, Precise does not return System.
func TestPreciseInABubble(t *testing.T) {
	outside := clock.Precise()
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, clock.System(), clock.Precise())
		w, err := hierarchy.New(hierarchy.Config{})
		require.NoError(t, err)
		defer w.Stop()
		start, fired := time.Now(), make(chan time.Duration)
		for _, d := range []time.Duration{1, 1700 * time.Microsecond, time.Hour, 40 * 365 * 24 * time.Hour} {
			after(t, w, d, func() { fired <- time.Since(start) })
			require.Equal(t, d, <-fired)
			start = time.Now()
		}
	})
	require.IsType(t, outside, clock.Precise())
	w := newWheel(t, nil, nil)
	fired := make(chan bool)
	after(t, w, time.Millisecond, func() { close(fired) })
	<-fired
}

// A callback that blocks delays no other wheel.
func TestPreciseWheelsDoNotWaitForEachOther(t *testing.T) {
	release := make(chan bool)
	defer close(release)
	var blocked atomic.Int32
	for range 10 {
		w := newWheel(t, nil, hierarchy.Inline)
		after(t, w, time.Millisecond, func() { blocked.Add(1); <-release })
	}
	w, fired := newWheel(t, nil, hierarchy.Inline), make(chan bool)
	for blocked.Load() < 10 {
		after(t, w, 100*time.Microsecond, func() { fired <- true })
		<-fired
	}
	after(t, w, 100*time.Microsecond, func() { fired <- true })
	<-fired
}
