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

// askDone is what a test may do to a context before it goes on.
var askDone = map[string]func(ctx context.Context){
	"asked":     func(ctx context.Context) { ctx.Done() },
	"not asked": func(context.Context) {},
}

// crowd is how many contexts below one parent; beyond a few they share what tells them.
var crowds = []int{1, 2, 100}

// A cancelled parent leaves no timer behind, and no place taken.
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

// mark is an error that tells when it is collected. Who has it as the cause of a
// context's deadline knows when the context is.
type mark struct{ _ [64]byte }

func (*mark) Error() string { return "a mark" }

// requireCollected requires that n marks are collected.
func requireCollected(t *testing.T, collected *atomic.Int32, n int, name string) {
	t.Helper()
	for range 1000 { // a cleanup runs some time after a collection
		runtime.GC()
		if int(collected.Load()) == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.EqualValues(t, n, collected.Load(), "%s: contexts that are collected", name)
}

// Contexts that were cancelled are not held by a parent that goes on.
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

// children is how many a cancel context of package context has.
func children(ctx context.Context) int {
	return reflect.ValueOf(ctx).Elem().FieldByName("children").Len()
}

// However many contexts were made and cancelled below a parent, it is left with one
// registration at most, which the next context below it would use.
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

// makeWayFor has other parents take the places of all that contexts share at theirs.
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

// A parent is left with nothing when other parents have come.
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

// Contexts below a parent that had to make way are told of its end, and the last of them
// that is cancelled leaves nothing.
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

// A context whose parent ends while its timer is being set takes it back.
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
