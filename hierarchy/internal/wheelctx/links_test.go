package wheelctx

import (
	"context"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A context for which nobody waits is small.
func TestContextSize(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(timeoutContext{}), uintptr(112))
	require.LessOrEqual(t, unsafe.Sizeof(links{}), uintptr(144))
}

// waits are calls after which the parent of a context ends it.
var waits = map[string]func(w *fake, ctx context.Context){
	"Done":      func(_ *fake, ctx context.Context) { ctx.Done() },
	"AfterFunc": func(_ *fake, ctx context.Context) { ctx.(*timeoutContext).AfterFunc(func() {}) },
	"a context below": func(w *fake, ctx context.Context) {
		below, _ := w.make(ctx, 5, nil)
		below.Done()
	},
	"a child": func(_ *fake, ctx context.Context) {
		_, cancel := context.WithCancel(ctx)
		cancel()
	},
	"many calls of Err": func(_ *fake, ctx context.Context) {
		for range linkAfter {
			_ = ctx.Err()
		}
	},
}

// The timer of a context for which nobody waits stays when the parent ends, until somebody looks.
func TestContextWithoutLinksKeepsItsTimer(t *testing.T) {
	w := newFake()
	parent, cancelParent := w.make(context.Background(), 10, nil)
	ctx, cancel := w.make(parent, 20, nil)
	for range linkAfter - 1 {
		require.NoError(t, ctx.Err())
	}
	cancelParent()
	require.Len(t, w.timers, 1)
	require.Equal(t, context.Canceled, ctx.Err())
	require.Empty(t, w.timers)
	cancel()
}

// If somebody waits for a context, or the wheel is crowded, the parent stops its timer.
func TestContextWithLinksLosesItsTimer(t *testing.T) {
	for name, wait := range waits {
		w := newFake()
		parent, cancelParent := w.make(context.Background(), 10, nil)
		ctx, cancel := w.make(parent, 20, nil)
		wait(w, ctx)
		cancelParent()
		require.Empty(t, w.timers, name)
		cancel()
	}
	w := newFake()
	w.crowded = true
	parent, cancelParent := w.make(context.Background(), 10, nil)
	ctx, cancel := w.make(parent, 20, nil)
	cancelParent()
	require.Empty(t, w.timers, "crowded")
	cancel()
	require.Equal(t, context.Canceled, ctx.Err())
}

// When a context without links ends, nothing is made for it.
func TestContextsWithoutLinksShareThem(t *testing.T) {
	w := newFake()
	ends := map[*Outcome]func(cancel func()){
		canceled: func(cancel func()) { cancel() },
		expired:  func(func()) { w.fire(w.now + 20) },
	}
	for outcome, end := range ends {
		ctx, cancel := w.make(context.Background(), 20, nil)
		end(cancel)
		require.Same(t, &outcome.links, ctx.(*timeoutContext).links.Load())
		require.Equal(t, outcome.err, ctx.Err())
		<-ctx.Done()
		called := make(chan struct{})
		require.False(t, ctx.(*timeoutContext).AfterFunc(func() { close(called) })())
		<-called
		cancel()
		require.Equal(t, outcome.err, context.Cause(ctx))
	}
}

// liar is a context that never admits that it has ended.
type liar struct{ context.Context }

func (liar) Err() error { return nil }

// A context ends with the one whose Done its parent has, whatever the Err of the parent returns.
func TestContextBelowALiar(t *testing.T) {
	w := newFake()
	above, cancelAbove := w.make(context.Background(), 10, nil)
	ctx, cancel := w.make(liar{above}, 20, nil)
	defer cancel()
	cancelAbove()
	<-ctx.Done()
	require.Equal(t, context.Canceled, ctx.Err())
	require.Empty(t, w.timers)
}

// Contexts get links in several goroutines while they and their parents end. All of them end.
func TestContextsGetLinksWhileTheyEnd(t *testing.T) {
	for round := range 2000 {
		w := newFake()
		top, cancelTop := context.WithCancel(context.Background())
		parent, cancelParent := w.make(top, 10, nil)
		ctx, cancel := w.make(parent, 20, nil)
		var all sync.WaitGroup
		dones := make([]<-chan struct{}, 4)
		var called sync.WaitGroup
		for i := range dones {
			all.Go(func() { dones[i] = ctx.Done() })
			called.Add(1)
			all.Go(func() { ctx.(*timeoutContext).AfterFunc(called.Done) })
		}
		end := []func(){cancel, cancelParent, cancelTop}[round%3]
		all.Go(end)
		all.Wait()
		for _, done := range dones {
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				require.FailNow(t, "not done")
			}
		}
		called.Wait()
		require.Equal(t, context.Canceled, ctx.Err())
		cancel()
		if l := parent.(*timeoutContext).links.Load(); l != nil {
			require.Nil(t, l.contexts)
		}
		cancelParent()
		cancelTop()
		l := ctx.(*timeoutContext).links.Load()
		require.Nil(t, l.contexts)
		require.Nil(t, l.functions)
	}
}

// hooked is a context whose Done calls hook first, once.
type hooked struct {
	context.Context
	hook func()
}

func (h *hooked) Done() <-chan struct{} {
	if hook := h.hook; hook != nil {
		h.hook = nil
		hook()
	}
	return h.Context.Done()
}

// If two calls make the links of a context, one registration with the parent is left, which its cancel undoes.
func TestContextGetsLinksOnce(t *testing.T) {
	w := newFake()
	above, cancelAbove := w.make(context.Background(), 10, nil)
	defer cancelAbove()
	parent := &hooked{Context: above}
	ctx, cancel := w.make(parent, 20, nil)
	var inner <-chan struct{}
	parent.hook = func() { inner = ctx.Done() }
	require.Equal(t, ctx.Done(), inner)
	cancel()
	<-inner
	require.Nil(t, above.(*timeoutContext).links.Load().contexts)
}

// counter is a context of a foreign type that counts the contexts below it.
type counter struct {
	context.Context
	below int
}

func (c *counter) Done() <-chan struct{} { return neverClosed }

func (c *counter) AfterFunc(func()) (stop func() bool) {
	c.below++
	return func() bool { c.below--; return true }
}

// A parent with an AfterFunc of its own hears of each context below it at once, as with package context.
func TestContextRegistersWithAForeignParent(t *testing.T) {
	w := newFake()
	parent := &counter{Context: context.Background()}
	_, cancel := w.make(parent, 10, nil)
	require.Equal(t, 1, parent.below)
	cancel()
	require.Zero(t, parent.below)
	require.Empty(t, w.timers)
}
