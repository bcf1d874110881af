package contexts

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
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// doneCalls call Done of a context, or do not.
var doneCalls = map[string]func(ctx context.Context){
	"Done called":     func(ctx context.Context) { ctx.Done() },
	"Done not called": func(context.Context) {},
}

// contextCounts are numbers of contexts below one parent. More than a few share a notifier.
var contextCounts = []int{1, 2, 100}

// When a parent is cancelled, the timers below it are stopped and their places are free.
func TestTimersOfContextsOfACancelledParent(t *testing.T) {
	for name, descendant := range descendants {
		for done, call := range doneCalls {
			for _, n := range contextCounts {
				synctest.Test(t, func(t *testing.T) {
					w := wheeltest.OnSystem(t, hierarchy.Config{MaxPending: 3 * n})
					parent, cancelParent := context.WithCancel(context.Background())
					for range n {
						call(descendant(wheelContexts(w), parent))
					}
					require.GreaterOrEqual(t, w.Len(), n)
					cancelParent()
					synctest.Wait()
					require.Zero(t, w.Len(), "%s, %s, %d", name, done, n)
					for range 3 * n {
						_, err := w.AfterFunc(time.Hour, nop)
						require.NoError(t, err, "all places are free again")
					}
				})
			}
		}
	}
}

// Without a limit, the timers of a few contexts that nobody waits for stay when the parent is cancelled, until somebody
// looks at the contexts.
func TestTimersThatStayWhenTheParentIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{Shards: 1})
		parent, cancelParent := context.WithCancel(context.Background())
		var all []context.Context
		for range 1000 {
			all = append(all, newContext(wheelContexts(w), parent))
		}
		cancelParent()
		synctest.Wait()
		require.Equal(t, 256, w.Len())
		for _, ctx := range all {
			require.Equal(t, context.Canceled, ctx.Err())
		}
		require.Zero(t, w.Len())
		wheeltest.RequireBalance(t, w)
	})
}

// collectable is an error to attach a cleanup to. As the cause at the deadline of a context
// it is collected with the context.
type collectable struct{ _ [64]byte }

func (*collectable) Error() string { return "collectable" }

// A parent does not keep contexts that were cancelled.
func TestCancelledContextsAreCollected(t *testing.T) {
	for name, descendant := range descendants {
		for done, call := range doneCalls {
			w, _ := wheeltest.OnMock(t, hierarchy.Config{})
			top, cancelTop := context.WithCancel(context.Background())
			defer cancelTop()
			parent := descendant(wheelContexts(w), top)
			for _, parent := range []context.Context{parent, top, context.Background()} {
				var collected atomic.Int32
				const n = 200
				for range n {
					err := &collectable{}
					runtime.AddCleanup(err, func(struct{}) { collected.Add(1) }, struct{}{})
					ctx, cancel := w.WithTimeoutCause(parent, time.Hour, err)
					call(ctx)
					cancel()
				}
				wheeltest.RequireCollected(t, &collected, n, name+", "+done)
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
// of the notifier, which the next context will use.
func TestCancelledContextsLeaveTheirParent(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	for done, call := range doneCalls {
		for _, n := range contextCounts {
			parent, cancelParent := context.WithCancel(context.Background())
			var cancels []context.CancelFunc
			for range n {
				ctx, cancel := w.WithTimeout(context.WithValue(parent, contextKey{}, 1), time.Hour)
				call(ctx)
				call(dropCancel(context.WithCancel(ctx)))
				cancels = append(cancels, cancel)
			}
			for _, cancel := range cancels {
				cancel()
			}
			require.LessOrEqual(t, children(parent), 1, "%s: %d", done, n)
			cancelParent()
		}
	}
}

// newWaitedFor makes a context for whose Done somebody could wait, and returns its cancel.
func newWaitedFor(w *hierarchy.Wheel, parent context.Context) context.CancelFunc {
	ctx, cancel := w.WithTimeout(parent, time.Hour)
	ctx.Done()
	return cancel
}

// replaceNotifiers makes notifiers of other parents, until done.
func replaceNotifiers(t *testing.T, w *hierarchy.Wheel, done func() bool) {
	for range 10_000 {
		if done() {
			return
		}
		other, cancelOther := context.WithCancel(context.Background())
		defer cancelOther()
		for range 5 {
			newWaitedFor(w, other)()
		}
	}
	require.Fail(t, "not done")
}

// The notifier of a parent is removed when another parent needs its entry.
func TestContextNotifierIsReplaced(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for range 10 {
		newWaitedFor(w, parent)()
	}
	require.Equal(t, 1, children(parent))
	replaceNotifiers(t, w, func() bool { return children(parent) == 0 })
}

// A notifier that was removed from its entry still notifies its listeners when the parent
// ends. Its registration ends when the last of them leaves.
func TestContextsOfAReplacedNotifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		parents, ends := make([]context.Context, 2), make([]context.CancelFunc, 2)
		var cancels []context.CancelFunc
		for i := range parents {
			parents[i], ends[i] = context.WithCancel(context.Background())
			for range 10 {
				cancels = append(cancels, newWaitedFor(w, parents[i]))
			}
		}
		replaceNotifiers(t, w, func() bool { return w.Stats().Stopped > 5000 })
		require.Equal(t, 20, w.Len())
		for _, cancel := range cancels[:10] {
			require.Positive(t, children(parents[0]))
			cancel()
		}
		require.Zero(t, children(parents[0]), "the last has left")
		ends[0]()
		ends[1]()
		synctest.Wait()
		require.Zero(t, w.Len(), "all have been notified")
	})
}

// The notifier of a parent in a bubble can be removed from outside the bubble.
func TestContextNotifierInABubbleIsReplaced(t *testing.T) {
	var parent context.Context
	synctest.Test(t, func(t *testing.T) {
		ctx, cancelParent := context.WithCancel(context.Background())
		_ = cancelParent // the parent never ends
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		for range 10 {
			newWaitedFor(w, ctx)()
		}
		parent = ctx
	})
	require.Equal(t, 1, children(parent))
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	replaceNotifiers(t, w, func() bool { return children(parent) == 0 })
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
	for name, descendant := range descendants {
		others, _ := wheeltest.OnMock(t, hierarchy.Config{})
		top, cancelTop := context.WithCancelCause(context.Background())
		parent := descendant(wheelContexts(others), top)
		c := &hookedClock{Clock: clock.System(), hook: func() { cancelTop(errParent); _ = parent.Err() }}
		w := wheeltest.New(t, hierarchy.Config{Clock: c})
		ctx, cancel := w.WithTimeout(parent, time.Hour)
		require.Equal(t, errParent, causeUnasked(ctx), name)
		require.Eventually(t, func() bool { return w.Len() == 0 }, 20*time.Second, time.Millisecond)
		cancel()
	}
}
