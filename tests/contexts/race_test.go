package contexts

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// ends has the Err for each Cause.
var ends = map[error]error{
	errLate:             context.DeadlineExceeded,
	errParent:           context.Canceled,
	context.Canceled:    context.Canceled,
	hierarchy.ErrClosed: context.Canceled,
}

// spinUntil calls ended until it returns true. It yields only after each hundred calls.
func spinUntil(ended func() bool) {
	for n := 1; !ended(); n++ {
		if n%100 == 0 {
			runtime.Gosched()
		}
	}
}

// observeEnd calls first until ctx has ended. Done, Err and Cause must agree, and not change
// again.
func observeEnd(t *testing.T, ctx context.Context, first func(context.Context) error) {
	spinUntil(func() bool { return first(ctx) != nil })
	cause, err := causeUnasked(ctx), ctx.Err()
	if want, ok := ends[cause]; !ok || want != err || doneState(ctx.Done()) == notDone {
		t.Errorf("cause %v, error %v, Done %v", cause, err, doneState(ctx.Done()))
	}
	if again := context.Cause(ctx); again != cause || ctx.Err() != err {
		t.Errorf("cause %v, then %v; error %v, then %v", cause, again, err, ctx.Err())
	}
}

// firstQueries are calls that return an error once the context has ended.
var firstQueries = []func(ctx context.Context) error{
	context.Context.Err,
	context.Cause,
	func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err() // not nil
		default:
			return nil
		}
	},
}

// The deadline of a context comes, it is cancelled, its parent is cancelled, its wheel
// stops, and it is read and gets children, all at the same time.
func TestContextsEndConcurrently(t *testing.T) {
	for name, descendant := range descendants {
		for round := range 40 {
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
			top, cancelTop := context.WithCancelCause(context.Background())
			parent := descendant(wheelContexts(w), top)
			d := time.Duration(rand.IntN(100)) * time.Microsecond
			ctx, cancel := w.WithTimeoutCause(parent, d, errLate)
			var wg sync.WaitGroup
			for i, first := range firstQueries {
				wg.Go(func() { observeEnd(t, ctx, first) })
				wg.Go(func() {
					child, cancelChild := context.WithCancel(context.WithValue(ctx, contextKey{}, i))
					defer cancelChild()
					<-child.Done()
					if context.Cause(child) != context.Cause(ctx) || child.Err() != ctx.Err() {
						t.Errorf("%s: child: %v, %v; context: %v, %v", name, context.Cause(child), child.Err(), context.Cause(ctx), ctx.Err())
					}
				})
			}
			wg.Go(func() {
				_, cancelNested := w.WithTimeout(ctx, time.Hour)
				cancelNested()
			})
			for i, end := range []func(){cancel, func() { cancelTop(errParent) }, w.Stop} {
				if round%4 == i || round%4 == 3 {
					wg.Go(end)
				}
			}
			wg.Wait()
			cancel()
			cancelTop(nil)
			w.Stop()
			wheeltest.RequireBalance(t, w)
		}
	}
}

// When cancel returns, the context and all below it are done, even if another goroutine has
// called cancel first.
func TestCancelReturnsWhenAllIsDone(t *testing.T) {
	for name, descendant := range descendants {
		for range 100 {
			w, _ := wheeltest.OnMock(t, hierarchy.Config{})
			top, cancelTop := context.WithCancel(context.Background())
			ctx, cancel := w.WithTimeout(descendant(wheelContexts(w), top), time.Hour)
			var below []context.Context
			for range 20 {
				below = append(below, dropCancel(context.WithCancel(ctx)), newContext(wheelContexts(w), ctx))
			}
			dones := donesOf(append(below, ctx))
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					cancel()
					for i, done := range dones {
						if doneState(done) == notDone {
							t.Errorf("%s: %d of those below is not done", name, i)
						}
					}
				})
			}
			wg.Wait()
			cancelTop()
			w.Stop()
		}
	}
}

// Contexts are made and cancelled below a parent while it ends. All of them end.
func TestContextsComeWhileTheirParentEnds(t *testing.T) {
	for range 100 {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), MaxPending: 1000})
		parent, cancelParent := context.WithCancelCause(context.Background())
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 50 {
					ctx, cancel := w.WithTimeout(parent, time.Hour)
					switch {
					case i%3 == 0:
						cancel()
					case g == 0 && i == 25:
						cancelParent(errParent)
						if cause := causeUnasked(ctx); cause != errParent {
							t.Errorf("cause %v", cause)
						}
					}
				}
			})
		}
		wg.Wait()
		cancelParent(nil)
		require.Eventually(t, func() bool { return w.Len() == 0 }, 20*time.Second, time.Millisecond)
		w.Stop()
	}
}

// If Err is not nil, Done is closed, and the other way round.
func TestContextErrMeansDone(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	top, cancelTop := context.WithCancel(context.Background())
	defer cancelTop()
	for _, parent := range []context.Context{context.Background(), top, newContext(wheelContexts(w), top)} {
		for round := range 500 {
			ctx, cancel := w.WithTimeout(parent, time.Hour)
			done := ctx.Done()
			ended := func() bool { return ctx.Err() != nil }
			if round%2 == 0 {
				ended = func() bool { return doneState(done) != notDone }
			}
			var wg sync.WaitGroup
			begun := make(chan struct{})
			wg.Go(func() {
				close(begun)
				spinUntil(ended)
				if ctx.Err() == nil || doneState(done) == notDone {
					t.Errorf("Err %v, Done %v", ctx.Err(), doneState(done))
				}
			})
			<-begun
			cancel()
			wg.Wait()
		}
	}
}

// Err and Cause are also right at once where a child that package context has made is
// between a context and its ancestor, though that child may be cancelled in a goroutine.
func TestContextBelowAChildBelowAnother(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	for round := range 1000 {
		top, cancelTop := context.WithCancelCause(context.Background())
		above := newContext(wheelContexts(w), top)
		var all []context.Context
		for range 10 {
			ctx := newContext(wheelContexts(w), dropCancel(context.WithCancel(dropCancel(context.WithCancel(above)))))
			if round%2 == 0 {
				ctx.Done()
			}
			all = append(all, ctx)
		}
		for range 200 { // cancelling these takes a while
			dropCancel(context.WithCancel(above))
		}
		cancelTop(errParent)
		for range rand.IntN(100) { // the goroutine may have begun to cancel
			runtime.Gosched()
		}
		for _, ctx := range all {
			require.Equal(t, errParent, causeUnasked(ctx))
			require.Equal(t, context.Canceled, ctx.Err())
			require.Equal(t, "done", doneState(ctx.Done()))
		}
	}
}
