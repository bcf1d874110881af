package timers

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// chanTimer has the methods that ChanTimer and time.Timer share.
type chanTimer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// runTimer runs a script on a timer and returns all results. Operations are a microsecond
// apart and all delays are whole milliseconds, so a timer never fires at the same time as
// an operation.
func runTimer(script []byte, timer chanTimer, c <-chan time.Time) (trace []string) {
	start := time.Now()
	r := rand.New(rand.NewPCG(1, 1))
	for _, op := range script {
		d := time.Duration(r.IntN(6)) * time.Millisecond
		answer := ""
		switch op {
		case 's':
			answer = fmt.Sprint(timer.Stop())
		case 'r':
			answer = fmt.Sprint(d, timer.Reset(d))
		case 'n':
			answer = fmt.Sprint(timer.Reset(-1))
		case 'c':
			answer = wheeltest.Received(c, start)
		case 'w':
			time.Sleep(d)
		}
		trace = append(trace, string(op)+" "+answer)
		wheeltest.Pass(time.Microsecond)
	}
	return trace
}

func requireSameAsTimer(t *testing.T, script string) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		theirs := time.NewTimer(2 * time.Millisecond)
		want := runTimer([]byte(script), theirs, theirs.C)
		ours, err := w.NewTimer(2 * time.Millisecond)
		require.NoError(t, err)
		require.Equal(t, want, runTimer([]byte(script), ours, ours.C), script)
		wheeltest.RequireBalance(t, w)
	})
}

func TestChanTimerIsLikeTimer(t *testing.T) {
	for _, script := range []string{
		"c", "wwwwcc", "ss", "wwwwss", "wwwwcss", "rwwwwwwc", "wwwwrcwwwwc", "srwwwwwwc",
		"wwwwsrcwwwwcc", "nc", "ns", "nrcwwwwc", "wwwwcrwwwwcr",
	} {
		requireSameAsTimer(t, script)
	}
}

func TestChanTimerIsLikeTimerAtRandom(t *testing.T) {
	for seed := range uint64(100) {
		requireSameAsTimer(t, wheeltest.RandomScript(rand.New(rand.NewPCG(seed, 0)), "srnccwww"))
	}
}

func TestChanTimerHoldsNoStaleValue(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	timer, err := w.NewTimer(time.Second)
	require.NoError(t, err)
	m.Add(time.Minute)
	require.True(t, timer.Stop(), "Stop must return true while the value was not received")
	require.Empty(t, timer.C)
	require.False(t, timer.Reset(time.Second))
	m.Add(time.Minute)
	require.True(t, timer.Reset(time.Second))
	require.Empty(t, timer.C)
	m.Add(time.Second)
	require.Equal(t, m.Now(), <-timer.C)
	require.False(t, timer.Stop())
}

func TestChanTimerOnAStoppedWheel(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	timer, err := w.NewTimer(time.Second)
	require.NoError(t, err)
	w.Stop()
	require.False(t, timer.Reset(0))
	require.False(t, timer.Stop())
	m.Add(time.Minute)
	require.Empty(t, timer.C)
	wheeltest.RequireBalance(t, w)
}

func TestAfter(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	c, err := w.After(time.Second)
	require.NoError(t, err)
	m.Add(time.Second - 1)
	require.Empty(t, c)
	m.Add(time.Hour)
	require.Equal(t, time.Unix(1, 0).UTC(), <-c)
	require.Empty(t, c)
}

// Several goroutines may use one ChanTimer.
func TestChanTimerConcurrently(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	timer, err := w.NewTimer(0)
	require.NoError(t, err)
	wheeltest.Concurrently(func() { timer.Stop() }, func() { timer.Reset(time.Microsecond) }, func() { wheeltest.Received(timer.C, time.Time{}) })
	timer.Stop()
	require.Empty(t, timer.C)
	require.Zero(t, w.Len())
	wheeltest.RequireBalance(t, w)
}

func TestChanTimerDroppedWithItsWheel(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	timer, err := w.NewTimer(1)
	require.NoError(t, err)
	w.Stop()
	require.False(t, timer.Stop(), "the stopped wheel had already dropped the timer")
	require.False(t, timer.Reset(1))
	require.False(t, timer.Stop())
	require.EqualValues(t, 1, w.Stats().Dropped)
}

func TestChanTimerStopWhileItFires(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	var channels []<-chan time.Time
	for i := range 100000 {
		timer, err := w.NewTimer(time.Duration(i % 30 * 100))
		require.NoError(t, err)
		for range i % 1000 {
			runtime.KeepAlive(timer)
		}
		require.True(t, timer.Stop(), "nobody received, %d", i)
		channels = append(channels, timer.C)
	}
	require.NoError(t, w.Shutdown(t.Context()))
	for i, c := range channels {
		require.Zero(t, len(c), "timer %d has sent after Stop", i)
	}
}

// A channel gets the time when its timer was due, however late the wheel wakes and whenever the
// value is received.
func TestChannelsGetTheTimeWhenDue(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	c.RunTo(time.Second)
	const d = 3 * time.Millisecond
	due := c.Now().Add(d)
	after, err := w.After(d)
	require.NoError(t, err)
	timer, err := w.NewTimer(d)
	require.NoError(t, err)
	again, err := w.NewTimer(time.Hour)
	require.NoError(t, err)
	require.True(t, again.Reset(d))
	ticker, err := w.NewTicker(d)
	require.NoError(t, err)
	c.RunTo(time.Second + d + d/2)
	for name, channel := range map[string]<-chan time.Time{"After": after, "NewTimer": timer.C, "Reset": again.C, "Ticker": ticker.C} {
		require.Equal(t, due, <-channel, name)
	}
	now, err := w.NewTimer(0)
	require.NoError(t, err)
	require.Equal(t, c.Now(), <-now.C)
}

// Stopping and resetting allocate nothing.
func TestChanTimerResetAllocatesNothing(t *testing.T) {
	w := wheeltest.OnSystem(t, hierarchy.Config{})
	timer, err := w.NewTimer(time.Hour)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		timer.Reset(time.Hour)
		timer.Stop()
	}))
}
