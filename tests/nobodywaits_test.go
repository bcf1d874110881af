package tests

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	bigCrowd = 60_000
	// fewOthers is the number of timers that a call may have to wait for at most. It is a
	// few times what the wheel does in one go, and a small part of the crowd.
	fewOthers = 3000
)

// oneProcessor makes all goroutines share one processor. Which of them runs next then
// depends on where they yield, not on their speed.
func oneProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// meanwhile rings the clock while another goroutine calls f in a loop. It returns the
// number of calls.
func meanwhile(c *handClock, f func()) (calls int) {
	var over atomic.Bool
	done := make(chan int)
	go func() {
		n := 0
		for ; !over.Load(); n++ {
			f()
			runtime.Gosched()
		}
		done <- n
	}()
	runtime.Gosched()
	c.ringNow()
	over.Store(true)
	return <-done
}

// longest finds the longest step of a growing count.
type longest struct{ last, step uint64 }

func (l *longest) see(n uint64) {
	l.step = max(l.step, n-l.last)
	l.last = n
}

// Other goroutines can call the wheel while a crowd of one instant fires.
func TestCallsGetInWhileABurstFires(t *testing.T) {
	oneProcessor(t)
	c := &handClock{}
	var fired atomic.Uint64
	w := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Shards: 1}, func(int) { fired.Add(1) })
	for i := range bigCrowd {
		_, err := w.Set(i, time.Second)
		require.NoError(t, err)
	}
	c.moveTo(time.Second)
	var gap longest
	calls := meanwhile(c, func() {
		timer, _ := w.Set(0, time.Hour)
		timer.Stop()
		gap.see(fired.Load())
	})
	gap.see(fired.Load())
	require.EqualValues(t, bigCrowd, fired.Load())
	require.LessOrEqual(t, gap.step, uint64(fewOthers), "callbacks between two calls, of %d calls", calls)
}

// crowdAhead returns a wheel with a crowd in one coarse slot, in random order.
func crowdAhead(t *testing.T, c *handClock, fire func(int)) *of {
	w := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Shards: 1}, fire)
	r := rand.New(rand.NewPCG(6, 6))
	for range bigCrowd {
		_, err := w.Set(1, 100*time.Second+time.Duration(r.Int64N(int64(30*time.Second))))
		require.NoError(t, err)
	}
	return w
}

// ringsOfCascade moves the clock to each aim until most of the crowd has cascaded, while
// another goroutine calls f.
func ringsOfCascade(c *handClock, f func()) {
	for at, aimed := c.target(); aimed && at < 100*time.Second; at, aimed = c.target() {
		c.moveTo(at)
		meanwhile(c, f)
	}
	c.moveTo(100 * time.Second)
	meanwhile(c, f)
}

// Other goroutines can call the wheel while a crowd cascades.
func TestCallsGetInWhileACrowdCascades(t *testing.T) {
	oneProcessor(t)
	c := &handClock{}
	w := crowdAhead(t, c, func(int) {})
	var gap longest
	ringsOfCascade(c, func() { gap.see(w.Stats().Cascaded) })
	require.Greater(t, w.Stats().Cascaded, uint64(bigCrowd/2), "the crowd did not cascade")
	gap.see(w.Stats().Cascaded)
	require.LessOrEqual(t, gap.step, uint64(fewOthers))
}

// A timer that falls due while a crowd cascades does not wait for the cascade to end.
func TestDueTimerOvertakesACascade(t *testing.T) {
	oneProcessor(t)
	c := &handClock{}
	var w *of
	var atCall atomic.Uint64
	var pending atomic.Bool
	var waits []uint64
	w = crowdAhead(t, c, func(v int) {
		if v == 0 {
			waits = append(waits, w.Stats().Cascaded-atCall.Load())
			pending.Store(false)
		}
	})
	ringsOfCascade(c, func() {
		if !pending.Swap(true) {
			atCall.Store(w.Stats().Cascaded)
			_, _ = w.Set(0, 0)
		}
	})
	require.Greater(t, len(waits), 10, "few timers fell due during the cascade")
	for _, n := range waits {
		require.LessOrEqual(t, n, uint64(fewOthers))
	}
}

// A timer in the same coarse slot as a crowd, but due before it, fires before the crowd
// has cascaded, even if the clock wakes the wheel too late to pour the crowd ahead.
func TestDueTimerOvertakesACrowdOnItsOwnSlot(t *testing.T) {
	c := &handClock{}
	var w *of
	cascaded, fired := uint64(0), 0
	w = crowdAhead(t, c, func(v int) {
		if fired++; v == 0 {
			require.Equal(t, 1, fired, "the earliest timer did not fire first")
			cascaded = w.Stats().Cascaded
		}
	})
	_, err := w.Set(0, 99*time.Second)
	require.NoError(t, err)
	c.moveTo(99 * time.Second)
	c.ringNow()
	require.Equal(t, 1, fired)
	require.LessOrEqual(t, cascaded, uint64(fewOthers))
}

// Other goroutines can call the wheel while Drain calls its function for a crowd.
func TestCallsGetInDuringDrain(t *testing.T) {
	c := &handClock{}
	w := crowdAhead(t, c, func(int) {})
	calls := 0
	n := w.Drain(func(int) {
		if calls == 0 {
			returns(t, func() {
				_, err := w.Set(1, time.Hour)
				require.NoError(t, err)
				require.Equal(t, 1, w.Len())
			})
		}
		calls++
	})
	require.Equal(t, bigCrowd, n)
	require.Equal(t, bigCrowd, calls)
}
