package hierarchy_test

import (
	"context"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// askDone says whether a test calls Done.
var askDone = map[string]func(ctx context.Context){
	"asked":     func(ctx context.Context) { ctx.Done() },
	"not asked": func(context.Context) {},
}

// crowds are numbers of contexts below one parent. More than a few share a hub.
var crowds = []int{1, 2, 100}

// When a parent is cancelled, the timers below it are stopped and their places are free.
func TestTimersOfContextsOfACancelledParent(t *testing.T) {
	for name, lineage := range lineages {
		for asked, ask := range askDone {
			for _, n := range crowds {
				synctest.Test(t, func(t *testing.T) {
					w := onSystem(t, hierarchy.Config{MaxPending: 3 * n})
					parent, cancelParent := context.WithCancel(context.Background())
					for range n {
						ask(lineage(ourContexts(w), parent))
					}
					require.GreaterOrEqual(t, w.Len(), n)
					cancelParent()
					synctest.Wait()
					require.Zero(t, w.Len(), "%s, %s, %d", name, asked, n)
					for range 3 * n {
						_, err := w.AfterFunc(time.Hour, nop)
						require.NoError(t, err, "all places are free again")
					}
				})
			}
		}
	}
}

// mark is an error to attach a cleanup to. As the cause at the deadline of a context it is
// collected with the context.
type mark struct{ _ [64]byte }

func (*mark) Error() string { return "a mark" }

// requireCollected requires that n marks are collected.
func requireCollected(t *testing.T, collected *atomic.Int32, n int, name string) {
	t.Helper()
	for range 1000 { // cleanups run some time after a collection
		runtime.GC()
		if int(collected.Load()) == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.EqualValues(t, n, collected.Load(), "%s: contexts that are collected", name)
}

// A parent does not keep contexts that were cancelled.
func TestCancelledContextsAreCollected(t *testing.T) {
	for name, lineage := range lineages {
		for asked, ask := range askDone {
			w, _ := onMock(t, hierarchy.Config{})
			top, cancelTop := context.WithCancel(context.Background())
			defer cancelTop()
			parent := lineage(ourContexts(w), top)
			for _, parent := range []context.Context{parent, top, context.Background()} {
				var collected atomic.Int32
				const n = 200
				for range n {
					m := &mark{}
					runtime.AddCleanup(m, func(struct{}) { collected.Add(1) }, struct{}{})
					ctx, cancel := w.WithTimeoutCause(parent, time.Hour, m)
					ask(ctx)
					cancel()
				}
				requireCollected(t, &collected, n, name+", "+asked)
				runtime.KeepAlive(parent)
			}
		}
	}
}

// children is the number of children of a cancel context of package context.
func children(ctx context.Context) int {
	return reflect.ValueOf(ctx).Elem().FieldByName("children").Len()
}

// After all contexts below a parent were cancelled, at most one registration is left: that
// of the hub, which the next context will use.
func TestCancelledContextsLeaveTheirParent(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	for asked, ask := range askDone {
		for _, n := range crowds {
			parent, cancelParent := context.WithCancel(context.Background())
			var cancels []context.CancelFunc
			for range n {
				ctx, cancel := w.WithTimeout(context.WithValue(parent, contextKey{}, 1), time.Hour)
				ask(ctx)
				ask(uncancelled(context.WithCancel(ctx)))
				cancels = append(cancels, cancel)
			}
			for _, cancel := range cancels {
				cancel()
			}
			require.LessOrEqual(t, children(parent), 1, "%s: %d", asked, n)
			cancelParent()
		}
	}
}

// makeWayFor makes hubs of other parents, until done.
func makeWayFor(t *testing.T, w *hierarchy.Wheel, done func() bool) {
	for range 10_000 {
		if done() {
			return
		}
		other, cancelOther := context.WithCancel(context.Background())
		defer cancelOther()
		for range 5 {
			_, cancel := w.WithTimeout(other, time.Hour)
			cancel()
		}
	}
	require.Fail(t, "not done")
}

// The hub of a parent is removed when another parent needs the slot.
func TestParentsMakeWay(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for range 10 {
		_, cancel := w.WithTimeout(parent, time.Hour)
		cancel()
	}
	require.Equal(t, 1, children(parent))
	makeWayFor(t, w, func() bool { return children(parent) == 0 })
}

// A hub that was removed from its slot still tells its followers when the parent ends, and
// its registration ends with the last of them.
func TestContextsOfAParentThatHasMadeWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSystem(t, hierarchy.Config{})
		parents, ends := make([]context.Context, 2), make([]context.CancelFunc, 2)
		var cancels []context.CancelFunc
		for i := range parents {
			parents[i], ends[i] = context.WithCancel(context.Background())
			for range 10 {
				_, cancel := w.WithTimeout(parents[i], time.Hour)
				cancels = append(cancels, cancel)
			}
		}
		makeWayFor(t, w, func() bool { return w.Stats().Stopped > 5000 })
		require.Equal(t, 20, w.Len())
		for _, cancel := range cancels[:10] {
			require.Positive(t, children(parents[0]))
			cancel()
		}
		require.Zero(t, children(parents[0]), "the last has left")
		ends[0]()
		ends[1]()
		synctest.Wait()
		require.Zero(t, w.Len(), "all have been told")
	})
}

// The hub of a parent in a bubble can be removed from outside the bubble.
func TestParentsInABubbleMakeWay(t *testing.T) {
	var parent context.Context
	synctest.Test(t, func(t *testing.T) {
		ctx, cancelParent := context.WithCancel(context.Background())
		_ = cancelParent // the parent never ends
		w := onSystem(t, hierarchy.Config{})
		for range 10 {
			_, cancel := w.WithTimeout(ctx, time.Hour)
			cancel()
		}
		parent = ctx
	})
	require.Equal(t, 1, children(parent))
	w, _ := onMock(t, hierarchy.Config{})
	makeWayFor(t, w, func() bool { return children(parent) == 0 })
}

// hookedClock calls hook when its alarm is set.
type hookedClock struct {
	clock.Clock
	hook func()
}

func (c *hookedClock) NewAlarm(ring func()) clock.Alarm {
	return hookedAlarm{c.Clock.NewAlarm(ring), c}
}

type hookedAlarm struct {
	clock.Alarm
	clock *hookedClock
}

func (a hookedAlarm) Set(elapsed time.Duration) {
	a.Alarm.Set(elapsed)
	a.clock.hook()
}

// If the parent of a context ends while the timer is being set, the timer is stopped.
func TestContextWhoseParentEndsMeanwhile(t *testing.T) {
	for name, lineage := range lineages {
		others, _ := onMock(t, hierarchy.Config{})
		top, cancelTop := context.WithCancelCause(context.Background())
		parent := lineage(ourContexts(others), top)
		c := &hookedClock{Clock: clock.System(), hook: func() { cancelTop(errParent); _ = parent.Err() }}
		w := newWheel(t, hierarchy.Config{Clock: c})
		ctx, cancel := w.WithTimeout(parent, time.Hour)
		require.Equal(t, errParent, causeAskedFirst(ctx), name)
		require.Eventually(t, func() bool { return w.Len() == 0 }, 20*time.Second, time.Millisecond)
		cancel()
	}
}
