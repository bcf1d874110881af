package hierarchy_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestRepeaterResetBetweenHandOverAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSystem(t, hierarchy.Config{Executor: hierarchy.Pool(1)})
		start := time.Now()
		_, err := w.AfterFunc(0, func() { time.Sleep(2 * time.Second) })
		require.NoError(t, err)
		var begun []time.Duration
		r := every(t, w, time.Second, func() { begun = append(begun, time.Since(start)) })
		pass(1500 * time.Millisecond)
		require.True(t, r.Reset(10*time.Second))
		pass(10500 * time.Millisecond)
		require.Equal(t, []time.Duration{11500 * time.Millisecond}, begun)
	})
}

func TestScheduleThatPanics(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{MaxPending: 1, OnPanic: func(any, []byte) {}})
	runs := 0
	r := schedule(t, w, planned(func(now time.Time) time.Time {
		if runs == 1 {
			panic("oh")
		}
		return now.Add(time.Second)
	}), func() { runs++ })
	m.Add(time.Minute)
	require.EqualValues(t, 1, w.Stats().Panics)
	if r.Reset(time.Second) {
		m.Add(time.Second)
		require.Equal(t, 2, runs, "Reset was true")
	} else {
		require.Zero(t, w.Len(), "it has ended")
	}
}

func TestRepeaterAtTheEndOfTime(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{})
	runs := 0
	var r *hierarchy.Repeater
	r = every(t, w, math.MaxInt64/2+1, func() {
		if runs++; runs == 10 {
			r.Stop() // else Add would never return
		}
	})
	m.Add(math.MaxInt64)
	require.LessOrEqual(t, runs, 2)
}

func TestChanTimerStopWhileItFires(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	for i := range 100000 {
		timer, err := w.NewTimer(time.Duration(i % 30 * 100))
		require.NoError(t, err)
		for range i % 1000 {
			runtime.KeepAlive(timer)
		}
		require.True(t, timer.Stop(), "nobody received, %d", i)
	}
}

// lateDone is a context that lets something happen just before Sleep waits.
type lateDone struct {
	context.Context
	happen func()
}

func (c lateDone) Done() <-chan struct{} { c.happen(); return c.Context.Done() }

func TestSleepThatIsOver(t *testing.T) {
	for range 100 {
		w, m := onMock(t, hierarchy.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, w.Sleep(lateDone{ctx, func() { m.Add(time.Second); w.Stop(); cancel() }}, time.Second))
	}
}

func TestContextCauseOfParent(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	for range 20000 {
		parent, cancelParent := context.WithCancelCause(context.Background())
		ctx, cancel := under(parent, w)
		cause := make(chan error)
		go func() {
			for ctx.Err() == nil {
			}
			cause <- context.Cause(ctx)
		}()
		cancelParent(errParent)
		require.Equal(t, errParent, <-cause)
		cancel()
	}
}

func TestContextErrAndCauseOfDifferentEvents(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{})
	for range 50000 {
		parent, cancelParent := context.WithCancelCause(context.Background())
		ctx, cancel := under(parent, w)
		var all sync.WaitGroup
		all.Go(func() { cancelParent(errParent) })
		m.Add(time.Second)
		all.Wait()
		want := map[error]error{errLate: context.DeadlineExceeded, errParent: context.Canceled}
		require.Equal(t, want[context.Cause(ctx)], ctx.Err(), "%v", context.Cause(ctx))
		cancel()
	}
}

func TestContextGoroutinePerChildOfAValue(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	defer cancel()
	value := context.WithValue(ctx, contextKey{}, 1)
	before := runtime.NumGoroutine()
	for range 1000 {
		_, cancelChild := context.WithCancel(value)
		defer cancelChild()
	}
	awaitGoroutines(t, before)
}

func TestContextChildOfAValueAtOnce(t *testing.T) {
	for _, expire := range []bool{true, false} {
		w, m := onMock(t, hierarchy.Config{})
		ctx, cancel := background(w)
		defer cancel()
		child, cancelChild := context.WithCancel(context.WithValue(ctx, contextKey{}, 1))
		defer cancelChild()
		if expire {
			m.Add(time.Second)
		} else {
			cancel()
		}
		require.Error(t, child.Err())
	}
}

func TestContextChildOfACancelledParentAtOnce(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	parent, cancelParent := context.WithCancel(context.Background())
	ctx, cancel := under(parent, w)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	cancelParent()
	require.Error(t, ctx.Err())
	require.Error(t, child.Err())
}

func TestContextTimerOfACancelledParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSystem(t, hierarchy.Config{})
		parent, cancelParent := context.WithCancel(context.Background())
		ctx, cancel := under(parent, w)
		defer cancel()
		ctx.Done()
		cancelParent()
		synctest.Wait()
		require.Zero(t, w.Len())
	})
}

func TestContextOfAnEarlierParentOnAStoppedWheel(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	parent, cancelParent := context.WithDeadline(context.Background(), time.Now().Add(time.Hour))
	defer cancelParent()
	before, cancel := w.WithDeadline(parent, time.Now().Add(2*time.Hour))
	defer cancel()
	w.Stop()
	after, cancel := w.WithDeadline(parent, time.Now().Add(2*time.Hour))
	defer cancel()
	require.Equal(t, hierarchy.ErrClosed, context.Cause(after))
	require.Equal(t, hierarchy.ErrClosed, context.Cause(before))
}

// These belong to TestContextsAreLikeThoseOfPackageContext.
func TestContextsOfParentsWithACause(t *testing.T) {
	requireLikePackageContext(t, []string{"p", "pc", "kp", "up", "wp"})
}

// TestContextConcurrently lets a context expire, be cancelled and get children at
// once. Whatever comes first, Err and Cause are of the same event, and children
// agree.
func TestContextConcurrently(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	for i := range 500 {
		ctx, cancel := w.WithTimeoutCause(context.Background(), time.Duration(i%20)*5*time.Microsecond, errLate)
		children := raceForChildren(w, ctx, cancel)
		want := map[error]error{errLate: context.DeadlineExceeded, context.Canceled: context.Canceled}
		require.Equal(t, want[context.Cause(ctx)], ctx.Err())
		for _, child := range children {
			<-child.Done()
			require.Equal(t, ctx.Err(), child.Err())
			require.Equal(t, context.Cause(ctx), context.Cause(child))
		}
	}
	requireBalance(t, w)
}

func under(parent context.Context, w *hierarchy.Wheel) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(parent, time.Second, errLate)
}

// A clock may come to the end of time: the wheel fires what is due and sleeps.
func TestWakeAtTheEndOfTime(t *testing.T) {
	c := &endedClock{Clock: clock.System()}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	fired := false
	_, err := w.AfterFunc(time.Second, func() { fired = true })
	require.NoError(t, err)
	c.elapsed = math.MaxInt64
	c.ring()
	require.True(t, fired)
}

// endedClock is a clock whose time is set by hand, and whose alarm is rung so.
type endedClock struct {
	clock.Clock
	elapsed time.Duration
	ring    func()
}

func (c *endedClock) Elapsed() time.Duration { return c.elapsed }

func (c *endedClock) NewAlarm(ring func()) clock.Alarm {
	c.ring = ring
	return c.Clock.NewAlarm(func() {})
}
