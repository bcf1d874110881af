package contexts

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// contexts is what makes contexts with a deadline: package context or a wheel.
type contexts struct {
	withTimeout      func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	withDeadline     func(context.Context, time.Time) (context.Context, context.CancelFunc)
	withTimeoutCause func(context.Context, time.Duration, error) (context.Context, context.CancelFunc)
}

var (
	stdContexts = contexts{context.WithTimeout, context.WithDeadline, context.WithTimeoutCause}
	errParent   = errors.New("the parent's cause")
	errLate     = errors.New("the timeout's cause")
	errChild    = errors.New("the child's cause")
)

func wheelContexts(w *hierarchy.Wheel) contexts {
	return contexts{w.WithTimeout, w.WithDeadline, w.WithTimeoutCause}
}

// subtree is a context and its descendants, by name.
type subtree struct {
	names         []string
	contexts      []context.Context
	cancels       []context.CancelFunc
	start         time.Time
	called        atomic.Int32 // by the functions passed to context.AfterFunc
	stopped       bool         // the result of stopAfterFunc
	stopAfterFunc func() bool
}

func (s *subtree) add(name string, ctx context.Context, cancel context.CancelFunc) context.Context {
	s.names = append(s.names, name)
	s.contexts = append(s.contexts, ctx)
	s.cancels = append(s.cancels, cancel)
	return ctx
}

type contextKey struct{}

// newSubtree gives ctx all sorts of descendants.
func newSubtree(c contexts, ctx context.Context, cancel context.CancelFunc) *subtree {
	s := &subtree{start: time.Now()}
	s.add("itself", ctx, cancel)
	with := func(name string) func(context.Context, context.CancelFunc) context.Context {
		return func(ctx context.Context, cancel context.CancelFunc) context.Context { return s.add(name, ctx, cancel) }
	}
	child := with("WithCancel")(context.WithCancel(ctx))
	with("WithCancel of it")(context.WithCancel(child))
	value := s.add("WithValue", context.WithValue(ctx, contextKey{}, "of the child"), func() {})
	with("WithCancel of a value")(context.WithCancel(value))
	with("nested after a value")(c.withTimeout(value, time.Hour))
	with("nested, shorter")(c.withTimeout(ctx, 300*time.Millisecond))
	with("nested, longer")(c.withTimeoutCause(child, time.Hour, errChild))
	with("context.WithTimeout, shorter")(context.WithTimeout(ctx, 400*time.Millisecond))
	with("context.WithTimeout, longer")(context.WithTimeout(ctx, time.Hour))
	s.add("WithoutCancel", context.WithoutCancel(ctx), func() {})
	with("nested in WithoutCancel")(c.withTimeout(context.WithoutCancel(ctx), 1700*time.Millisecond))
	caused, setCause := context.WithCancelCause(ctx)
	s.add("WithCancelCause", caused, func() { setCause(errChild) })
	context.AfterFunc(ctx, func() { s.called.Add(1) })
	s.stopAfterFunc = context.AfterFunc(ctx, func() { s.called.Add(1000) })
	return s
}

// report describes all contexts of the subtree, when all other goroutines are blocked.
func (s *subtree) report(when string) (lines []string) {
	synctest.Wait()
	for i, ctx := range s.contexts {
		done := false
		select {
		case <-ctx.Done():
			done = true
		default:
		}
		deadline, ok := ctx.Deadline()
		lines = append(lines, fmt.Sprintf("%s: %s: done %v, Err %v, Cause %v, Deadline %v %v, Value %v", when, s.names[i],
			done, ctx.Err(), context.Cause(ctx), deadline.Sub(s.start), ok, ctx.Value(contextKey{})))
	}
	return append(lines, fmt.Sprintf("%s: AfterFunc called %d, stopped %v", when, s.called.Load(), s.stopped))
}

// cancelling makes the cancel of a context cancel its parent too, afterwards.
func cancelling(parent context.CancelFunc) func(context.Context, context.CancelFunc) (context.Context, context.CancelFunc) {
	return func(ctx context.Context, cancel context.CancelFunc) (context.Context, context.CancelFunc) {
		return ctx, func() { cancel(); parent() }
	}
}

// contextMakers make a context below a parent whose cause can be set.
var contextMakers = map[string]contextMaker{
	"timeout": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withTimeout(parent, time.Second)
	},
	"deadline": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withDeadline(parent, time.Now().Add(time.Second))
	},
	"cause": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withTimeoutCause(parent, time.Second, errLate)
	},
	"nil cause": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withTimeoutCause(parent, time.Second, nil)
	},
	"no time": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withTimeout(parent, 0)
	},
	"past deadline": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withDeadline(parent, time.Now().Add(-time.Hour))
	},
	"no time, cause": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withTimeoutCause(parent, -1, errLate)
	},
	"earlier parent": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		sooner, cancel := c.withTimeoutCause(parent, 500*time.Millisecond, errParent)
		return cancelling(cancel)(c.withTimeoutCause(sooner, time.Second, errLate))
	},
	"earlier parent of package context": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		sooner, cancel := context.WithTimeout(parent, 500*time.Millisecond)
		return cancelling(cancel)(c.withTimeoutCause(sooner, time.Second, errLate))
	},
	"expired parent": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		expired, cancel := c.withTimeoutCause(parent, 0, errParent)
		return cancelling(cancel)(c.withTimeout(expired, time.Second))
	},
	"parent that is a value": func(c contexts, parent context.Context) (context.Context, context.CancelFunc) {
		return c.withTimeout(context.WithValue(parent, contextKey{}, "of the parent"), time.Second)
	},
}

// contextEvents are sequences of events. Each letter is an event: see apply.
var contextEvents = []string{
	"", "W", "cW", "Wc", "c", "cp", "n", "nc", "Wp", "kW", "kn", "uW", "uc", "un", "wwwwwwww", "wn", "wc", "wwkW",
	"p", "pc", "kp", "up", "wp",
}

func (s *subtree) apply(event rune, cancelParent context.CancelCauseFunc) {
	switch event {
	case 'w':
		wheeltest.Pass(350 * time.Millisecond)
	case 'W':
		wheeltest.Pass(2 * time.Second)
	case 'c':
		s.cancels[0]()
	case 'p':
		cancelParent(errParent)
	case 'n':
		cancelParent(nil)
	case 'k': // cancels the descendants, youngest first
		for i := len(s.cancels) - 1; i > 0; i-- {
			s.cancels[i]()
		}
	case 'u':
		s.stopped = s.stopAfterFunc()
	}
}

type contextMaker func(c contexts, parent context.Context) (context.Context, context.CancelFunc)

// runScript makes a context and descendants, applies the events, makes more descendants,
// and returns all reports.
func runScript(c contexts, maker contextMaker, events string, early bool) (lines []string) {
	parent, cancelParent := context.WithCancelCause(context.Background())
	defer cancelParent(nil)
	if early {
		cancelParent(errParent)
	}
	ctx, cancel := maker(c, parent)
	s := newSubtree(c, ctx, cancel)
	lines = s.report("made")
	for i, event := range events {
		s.apply(event, cancelParent)
		lines = append(lines, s.report(events[:i+1])...)
	}
	late := newSubtree(c, ctx, cancel)
	lines = append(lines, late.report("late")...)
	for i := range s.cancels {
		s.cancels[i]()
		late.cancels[i]()
	}
	return append(lines, s.report("in the end")...)
}

func TestContextsAreLikeThoseOfPackageContext(t *testing.T) {
	for name, maker := range contextMakers {
		for _, events := range contextEvents {
			for _, early := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					want := runScript(stdContexts, maker, events, early)
					w := wheeltest.OnSystem(t, hierarchy.Config{})
					got := runScript(wheelContexts(w), maker, events, early)
					require.Equal(t, want, got, "%s: %q", name, events)
					wheeltest.RequireBalance(t, w)
				})
			}
		}
	}
}

func background(w *hierarchy.Wheel) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(context.Background(), time.Second, errLate)
}

func TestContextOnMock(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	defer cancel()
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	deadline, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, m.Now().Add(time.Second), deadline)
	m.Add(time.Second - 1)
	require.NoError(t, ctx.Err())
	require.NoError(t, context.Cause(ctx))
	m.Add(1)
	for _, ctx := range []context.Context{ctx, child} { // when Add returns, not a moment later
		require.Equal(t, context.DeadlineExceeded, ctx.Err())
		require.Equal(t, errLate, context.Cause(ctx))
	}
	require.Zero(t, w.Len())
}

func TestContextCancelStopsItsTimer(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	child, cancelChild := w.WithTimeout(ctx, time.Millisecond)
	require.Equal(t, 2, w.Len())
	cancelChild()
	require.Equal(t, 1, w.Len())
	require.NoError(t, ctx.Err())
	require.Equal(t, context.Canceled, child.Err())
	cancel()
	cancel()
	require.Zero(t, w.Len())
	require.EqualValues(t, 2, w.Stats().Stopped)
	wheeltest.RequireBalance(t, w)
}

func TestContextOfNilParent(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	var none context.Context
	require.Panics(t, func() { w.WithTimeout(none, time.Second) })
}

// requireCancelled requires that ctx is cancelled with that cause.
func requireCancelled(t *testing.T, ctx context.Context, cause error) {
	t.Helper()
	<-ctx.Done()
	require.Equal(t, context.Canceled, ctx.Err())
	require.Equal(t, cause, context.Cause(ctx))
}

func TestContextOnAStoppedOrFullWheel(t *testing.T) {
	stopped, _ := wheeltest.OnMock(t, hierarchy.Config{})
	stopped.Stop()
	full, _ := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
	_, err := full.AfterFunc(time.Hour, nop)
	require.NoError(t, err)
	for w, want := range map[*hierarchy.Wheel]error{stopped: hierarchy.ErrClosed, full: hierarchy.ErrFull} {
		ctx, cancel := background(w)
		requireCancelled(t, ctx, want)
		child, cancelChild := context.WithCancel(ctx)
		requireCancelled(t, child, want)
		cancelChild()
		cancel()
		requireCancelled(t, ctx, want)
	}
}

func TestContextWhenTheWheelStops(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	nested, cancelNested := w.WithTimeout(context.WithValue(ctx, contextKey{}, 1), time.Minute)
	defer cancelNested()
	w.Stop()
	require.Error(t, ctx.Err(), "at once")
	for _, ctx := range []context.Context{ctx, child, nested} {
		requireCancelled(t, ctx, hierarchy.ErrClosed)
	}
	wheeltest.RequireBalance(t, w)
}

func TestContextNeedsNoGoroutinePerChild(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	defer cancel()
	before := runtime.NumGoroutine()
	for range 1000 {
		child, cancelChild := context.WithCancel(ctx)
		defer cancelChild()
		_, cancelBelowValue := context.WithCancel(context.WithValue(ctx, contextKey{}, 1))
		defer cancelBelowValue()
		context.AfterFunc(ctx, nop)
		_, cancelNested := w.WithTimeout(child, time.Hour)
		defer cancelNested()
	}
	awaitGoroutines(t, before)
}

// awaitGoroutines waits until there are at most so many goroutines. Garbage that is collected may
// have one for a moment.
func awaitGoroutines(t *testing.T, most int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > most; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "%d goroutines, not %d", runtime.NumGoroutine(), most)
	}
}

// raceForChildren gives ctx children while end ends it.
func raceForChildren(w *hierarchy.Wheel, ctx context.Context, end func()) []context.Context {
	children := make([]context.Context, 4)
	var wg sync.WaitGroup
	wg.Go(end)
	for n := range children {
		wg.Go(func() {
			var cancel context.CancelFunc
			if n == 0 {
				children[n], cancel = w.WithTimeout(ctx, time.Minute)
			} else {
				children[n], cancel = context.WithCancel(ctx)
			}
			context.AfterFunc(children[n], cancel)
		})
	}
	wg.Wait()
	return children
}
