package tests

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// panics records the calls of OnPanic.
type panics struct{ diary[string] }

func (p *panics) onPanic(recovered any, stack []byte) {
	p.note(fmt.Sprintf("%v %v", recovered, strings.Contains(string(stack), "tests.misbehaveBadly")))
}

func misbehaveBadly(n int) {
	switch n % 3 {
	case 0:
		panic("bad")
	case 1:
		runtime.Goexit()
	}
}

func setMisbehaving(t *testing.T, w *wheel, ran *atomic.Int32) {
	for i := range 30 {
		mustSet(t, w, time.Duration(1+i/6)*time.Second, func() {
			ran.Add(1)
			misbehaveBadly(i)
		})
	}
}

func (p *panics) judge(t *testing.T, w *wheel, ran int32) {
	t.Helper()
	require.EqualValues(t, 30, ran)
	require.Len(t, p.all(), 10)
	for _, s := range p.all() {
		require.Equal(t, "bad true", s)
	}
	st := w.Stats()
	require.EqualValues(t, 10, st.Panics)
	require.EqualValues(t, 30, st.Fired)
	require.Zero(t, st.Pending+st.Running+st.Queued)
}

// A callback that panics or exits its goroutine affects neither other timers nor the
// wheel.
func TestPanicAndGoexitAffectNoOtherTimer(t *testing.T) {
	for name, executor := range raceExecutors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p panics
				var ran atomic.Int32
				w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: executor, OnPanic: p.onPanic})
				setMisbehaving(t, w, &ran)
				time.Sleep(time.Minute)
				synctest.Wait()
				p.judge(t, w, ran.Load())
			})
		})
	}
}

// The same holds on a mock. There, Goexit in an Inline callback exits the goroutine that
// called Add, and the other timers fire in the next Add.
func TestPanicAndGoexitAffectNoOtherTimerOnAMock(t *testing.T) {
	for name, executor := range raceExecutors {
		t.Run(name, func(t *testing.T) {
			var p panics
			var ran atomic.Int32
			m := clock.NewMock()
			w := newWheel(t, hierarchy.Config{Clock: m, Executor: executor, OnPanic: p.onPanic})
			setMisbehaving(t, w, &ran)
			for range 20 {
				returns(t, func() { m.Add(time.Second) })
			}
			p.judge(t, w, ran.Load())
		})
	}
}

// Without OnPanic, a panic on a mock comes out of Add. The next Add fires the other
// timers.
func TestPanicComesOutOfAdd(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	fired := 0
	mustSet(t, w, 1, func() { panic("mine") })
	mustSet(t, w, 1, func() { fired++ })
	mustSet(t, w, 2, func() { fired++ })
	require.PanicsWithValue(t, "mine", func() { m.Add(5) })
	require.Equal(t, 2, w.Len())
	m.Add(5)
	require.Equal(t, 2, fired)
	require.Zero(t, w.Stats().Running)
}

// A Repeater continues after a run that panicked or exited its goroutine.
func TestRepeaterContinuesAfterPanics(t *testing.T) {
	var p panics
	m, runs := clock.NewMock(), 0
	w := newWheel(t, hierarchy.Config{Clock: m, OnPanic: p.onPanic})
	r, err := w.Every(time.Second, func() { runs++; misbehaveBadly(runs) })
	require.NoError(t, err)
	for range 9 {
		returns(t, func() { m.Add(time.Second) })
	}
	require.Equal(t, 9, runs)
	require.Len(t, p.all(), 3)
	require.True(t, r.Stop())
}

// An executor that panics loses only the task it was called with. The panic occurs in
// the clock's goroutine, which here is the caller of ringNow.
func TestExecutorThatPanicsLosesOneTaskOnly(t *testing.T) {
	c, n, fired := &handClock{}, 0, 0
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: func(task func()) {
		if n++; n%2 == 1 {
			panic("no")
		}
		task()
	}})
	for range 6 {
		mustSet(t, w, 1, func() { fired++ })
	}
	for range 3 {
		at, aimed := c.target()
		require.True(t, aimed && at <= c.Elapsed()+time.Millisecond)
		c.moveTo(at)
		require.PanicsWithValue(t, "no", c.ringNow)
	}
	c.runTo(time.Second)
	require.Equal(t, 3, fired)
	st := w.Stats()
	require.EqualValues(t, 6, st.Fired)
	require.Zero(t, st.Pending+st.Queued+st.Running)
}

// A panic in the function of Drain is treated like a panic in a callback. Drain still
// calls the function for the other timers.
func TestDrainContinuesAfterAPanic(t *testing.T) {
	var p panics
	m := clock.NewMock()
	w := newKeyed(t, hierarchy.Config{Clock: m, OnPanic: p.onPanic}, func(string, int) {})
	for i := range 30 {
		require.NoError(t, w.Set(fmt.Sprint(i), i, time.Duration(i)))
	}
	var got []int
	var done sync.WaitGroup
	done.Go(func() { // Goexit ends this goroutine
		w.Drain(func(_ string, v int) {
			got = append(got, v)
			misbehaveBadly(v)
		})
	})
	done.Wait()
	require.Len(t, got, 30)
	require.IsIncreasing(t, got)
	require.Len(t, p.all(), 10)
	require.EqualValues(t, 10, w.Stats().Panics)
	require.EqualValues(t, 30, w.Stats().Drained)
}
