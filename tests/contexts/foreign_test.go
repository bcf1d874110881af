package contexts

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// foreign is a context of a type that package context does not know.
type foreign struct {
	context.Context // for values and the deadline
	done            chan struct{}
	mu              sync.Mutex
	err             error
}

func newForeign(parent context.Context) *foreign {
	return &foreign{Context: parent, done: make(chan struct{})}
}

func (f *foreign) Done() <-chan struct{} { return f.done }

func (f *foreign) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *foreign) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	close(f.done)
}

// listening is a foreign context with an AfterFunc method.
type listening struct {
	*foreign
	listeners map[int]func()
	last      int
}

func newListening(parent context.Context) *listening {
	return &listening{foreign: newForeign(parent), listeners: map[int]func(){}}
}

func (l *listening) AfterFunc(f func()) (stop func() bool) {
	l.last++
	n := l.last
	l.listeners[n] = f
	return func() bool {
		_, ok := l.listeners[n]
		delete(l.listeners, n)
		return ok
	}
}

func (l *listening) end(err error) {
	l.foreign.end(err)
	for n, f := range l.listeners {
		delete(l.listeners, n)
		go f()
	}
}

// uncomparable is an error that panics when it is compared.
type uncomparable []string

func (uncomparable) Error() string { return "uncomparable" }

// foreignParent is a context that can be ended with any error.
type foreignParent interface {
	context.Context
	end(err error)
}

// foreignParents returns new foreign contexts. Two of them embed a cancel context, which
// package context finds by its key, but which does not cancel them.
func foreignParents(t *testing.T) map[string]foreignParent {
	cancellable, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return map[string]foreignParent{
		"foreign":                          newForeign(context.Background()),
		"foreign below a cancel context":   newForeign(cancellable),
		"listening":                        newListening(context.Background()),
		"listening below a cancel context": newListening(cancellable),
	}
}

func TestContextsBelowForeignOnes(t *testing.T) {
	for name := range foreignParents(t) {
		for _, err := range []error{context.Canceled, context.DeadlineExceeded, errParent, uncomparable{"x"}} {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{})
				parent := foreignParents(t)[name]
				var all []context.Context
				for range 6 { // enough for a notifier, below a parent that can have one
					ctx := newContext(wheelContexts(w), parent)
					child := dropCancel(context.WithCancel(context.WithValue(ctx, contextKey{}, 1)))
					all = append(all, ctx, child, newContext(wheelContexts(w), ctx), newContext(wheelContexts(w), child))
				}
				dones := donesOf(all)
				synctest.Wait()
				require.Equal(t, 18, w.Len())
				requireNotDone(t, dones)
				parent.end(err)
				require.Equal(t, err, all[0].Err(), "at once")
				synctest.Wait()
				for i, ctx := range all {
					require.Equal(t, "done", doneState(dones[i]), "%s: %d", name, i)
					require.Equal(t, err, causeUnasked(ctx))
					require.Equal(t, err, ctx.Err())
				}
				require.Zero(t, w.Len())
			})
		}
	}
}

func donesOf(all []context.Context) (dones []<-chan struct{}) {
	for _, ctx := range all {
		dones = append(dones, ctx.Done())
	}
	return dones
}

func requireNotDone(t *testing.T, dones []<-chan struct{}) {
	t.Helper()
	for _, done := range dones {
		require.Equal(t, notDone, doneState(done))
	}
}

// A foreign parent with an AfterFunc method needs no goroutine, and does not keep contexts
// that were cancelled.
func TestContextsLeaveAForeignParent(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	parent := newListening(context.Background())
	before := runtime.NumGoroutine()
	for range 100 {
		ctx, cancel := w.WithTimeout(parent, time.Hour)
		ctx.Done()
		child, cancelChild := context.WithCancel(ctx)
		cancel()
		require.Equal(t, context.Canceled, child.Err())
		cancelChild()
	}
	awaitGoroutines(t, before)
	require.Empty(t, parent.listeners)
	require.Zero(t, w.Len())
}

// A foreign parent whose Done is nil never ends.
func TestContextBelowAForeignOneWithoutDone(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	parent := newForeign(context.Background())
	parent.done = nil
	parent.err = errors.New("not to be returned")
	ctx, cancel := w.WithTimeout(parent, time.Second)
	defer cancel()
	require.NoError(t, ctx.Err())
	m.Add(time.Second)
	require.Equal(t, context.DeadlineExceeded, ctx.Err())
}

// Contexts that have ended may share a Done, which then does not identify them.
func TestContextBelowOneThatSharesItsDone(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	above, cancel := w.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m.Add(time.Second)
	require.Equal(t, context.DeadlineExceeded, above.Err())
	parent, cancelParent := context.WithCancelCause(context.WithoutCancel(above))
	cancelParent(errParent)
	ctx, cancel := w.WithTimeout(parent, time.Second)
	defer cancel()
	require.Equal(t, errParent, causeUnasked(ctx))
	require.Equal(t, context.Canceled, ctx.Err())
}

// AfterFunc calls its function when the context ends, or at once if it has ended.
func TestContextAfterFuncOfItsOwn(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := background(w)
	called := 0
	after := ctx.(interface {
		AfterFunc(f func()) (stop func() bool)
	}).AfterFunc
	after(func() { called++ })
	stop := after(func() { called += 100 })
	require.True(t, stop())
	require.False(t, stop())
	cancel()
	require.Equal(t, 1, called, "when cancel returns")
	late := make(chan struct{})
	require.False(t, after(func() { close(late) })(), "it has been called")
	<-late
}
