package time_test

import (
	"testing"
	"testing/synctest"
	standard "time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/compat/time"
)

// In a bubble all is package time's: time stands still until all goroutines wait, and nothing
// comes to the wheel of the process.
func TestBubble(t *testing.T) {
	onMock(t)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		elapsed := func() time.Duration { return time.Since(start) }
		timer := time.NewTimer(time.Hour)
		<-timer.C
		require.Equal(t, time.Hour, elapsed())
		require.False(t, timer.Reset(time.Minute))
		require.True(t, timer.Stop())

		done := make(chan bool)
		f := time.AfterFunc(time.Hour, func() { close(done) })
		require.True(t, f.Reset(time.Minute))
		<-done
		require.False(t, f.Stop())
		require.Equal(t, 61*time.Minute, elapsed())

		ticker := time.NewTicker(time.Minute)
		<-ticker.C
		ticker.Reset(time.Hour)
		<-ticker.C
		ticker.Stop()
		time.Sleep(40 * 365 * 24 * time.Hour) // beyond the present
		require.Equal(t, 122*time.Minute+40*365*24*time.Hour, elapsed())
		<-time.NewTimer(time.Second).C
		require.Zero(t, time.Wheel().Stats().Scheduled)
	})
}

// A bubble may sleep until the present, and beyond.
func TestInBubble(t *testing.T) {
	present := standard.Now()
	require.False(t, process.InBubble())
	synctest.Test(t, func(t *testing.T) {
		require.True(t, process.InBubble())
		standard.Sleep(standard.Until(present))
		require.True(t, process.InBubble())
		standard.Sleep(standard.Hour)
		require.True(t, process.InBubble())
		go func() { require.True(t, process.InBubble()) }()
	})
	require.False(t, process.InBubble())
}

// Timers from outside a bubble can be stopped inside. One that is reset inside fires at no time of the bubble, as with
// package time, and goes on when it is reset outside.
func TestOutsideTimersInABubble(t *testing.T) {
	fired := make(chan bool, 1)
	timer, f := time.NewTimer(time.Hour), time.AfterFunc(time.Hour, func() { fired <- true })
	ticker := time.NewTicker(time.Hour)
	synctest.Test(t, func(t *testing.T) {
		require.True(t, timer.Reset(time.Minute))
		require.True(t, f.Reset(time.Minute))
		ticker.Reset(time.Minute)
		time.Sleep(time.Hour)
		require.Empty(t, fired)
	})
	ticker.Reset(time.Millisecond)
	timer.Reset(time.Millisecond)
	require.False(t, f.Reset(time.Millisecond))
	<-timer.C
	<-ticker.C
	<-fired
	synctest.Test(t, func(t *testing.T) {
		timer.Stop()
		f.Stop()
		ticker.Stop()
	})
}

// A bubble does not make the wheel of the process: it would be on the bubble's clock.
func TestFiguresInABubble(t *testing.T) {
	defer process.Use(nil)()
	synctest.Test(t, func(t *testing.T) {
		require.Zero(t, time.Wheel().Stats().Scheduled)
		require.Empty(t, time.Wheel().Circles())
		require.False(t, process.Made())
	})
}
