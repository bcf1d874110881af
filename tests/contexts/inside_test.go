package contexts

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// relatives are a context and those above and below it.
type relatives struct {
	w                            *hierarchy.Wheel
	mock                         *clock.Mock
	top, ctx, child              context.Context // each below the one before
	std, grandchild              context.Context // std is a child of ctx that package context made
	cancelTop, cancel, cancelAll context.CancelFunc
	endParent                    func() // ends the parent of top; contexts below notice
}

// parentsOfRelatives make a parent and the function that ends it.
var parentsOfRelatives = map[string]func() (parent context.Context, end func()){
	"cancellable": func() (context.Context, func()) {
		parent, cancel := context.WithCancel(context.Background())
		return parent, cancel
	},
	"does not notify": func() (context.Context, func()) {
		parent := newListening(context.Background())
		return parent, sync.OnceFunc(func() { parent.foreign.end(context.Canceled) })
	},
}

func newRelatives(t *testing.T, parentName string) *relatives {
	r := &relatives{mock: clock.NewMock()}
	w, err := hierarchy.New(hierarchy.Config{Clock: r.mock})
	require.NoError(t, err)
	parent, endParent := parentsOfRelatives[parentName]()
	r.w, r.endParent = w, endParent
	var cancelChild, cancelStd, cancelGrandchild context.CancelFunc
	r.top, r.cancelTop = w.WithTimeout(parent, time.Hour)
	r.ctx, r.cancel = w.WithTimeout(r.top, time.Second)
	r.child, cancelChild = w.WithTimeout(r.ctx, time.Hour)
	r.std, cancelStd = context.WithCancel(r.ctx)
	r.grandchild, cancelGrandchild = w.WithTimeout(r.std, time.Hour)
	r.cancelAll = func() {
		for _, cancel := range []func(){cancelGrandchild, cancelStd, cancelChild, r.cancel, r.cancelTop, endParent} {
			cancel()
		}
	}
	return r
}

// endings end the ctx of relatives.
var endings = map[string]func(r *relatives){
	"cancel":           func(r *relatives) { r.cancel() },
	"cancel of parent": func(r *relatives) { r.cancelTop() },
	"deadline":         func(r *relatives) { r.mock.Add(time.Second) },
	"Stop":             func(r *relatives) { r.w.Stop() },
	"Err":              func(r *relatives) { r.endParent(); _ = r.ctx.Err() },
	"Err of child":     func(r *relatives) { r.endParent(); _ = r.child.Err() },
	"Cause":            func(r *relatives) { r.endParent(); _ = causeUnasked(r.grandchild) },
	"Done":             func(r *relatives) { r.endParent(); _ = r.ctx.Done() },
	"a new child":      func(r *relatives) { r.endParent(); newContext(wheelContexts(r.w), r.ctx) },
}

// uses are what a function may do that was passed to the AfterFunc method of a context.
var uses = map[string]func(r *relatives){
	"Stop":             func(r *relatives) { r.w.Stop() },
	"cancel":           func(r *relatives) { r.cancel() },
	"cancel of parent": func(r *relatives) { r.cancelTop() },
	"cancel of all":    func(r *relatives) { r.cancelAll() },
	"Err":              func(r *relatives) { _, _ = r.ctx.Err(), r.grandchild.Err() },
	"Cause":            func(r *relatives) { _, _ = causeUnasked(r.child), causeUnasked(r.grandchild) },
	"Done":             func(r *relatives) { _, _ = r.ctx.Done(), r.grandchild.Done() },
	"a new context":    func(r *relatives) { newContext(wheelContexts(r.w), r.std) },
}

func elsewhere(f func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	<-done
}

// requireReturns requires that f returns.
func requireReturns(t *testing.T, f func(), name string) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "does not return", name)
	}
}

// A function that was passed to the AfterFunc method of a context may use the context, those
// above and below it, and the wheel, also in a goroutine for which it waits.
func TestContextFunctionsMayUseTheContext(t *testing.T) {
	for parentName := range parentsOfRelatives {
		for endName, end := range endings {
			for useName, use := range uses {
				r := newRelatives(t, parentName)
				var called sync.WaitGroup
				for _, ctx := range []context.Context{r.top, r.ctx, r.child, r.grandchild} {
					called.Add(1)
					afterEnd(ctx, func() {
						defer called.Done()
						use(r)
						elsewhere(func() { use(r) })
					})
				}
				requireReturns(t, func() {
					end(r)
					r.cancelTop()
					called.Wait()
				}, parentName+"/"+endName+"/"+useName)
				r.cancelAll()
				r.w.Stop()
			}
		}
	}
}

// When a context ends, the contexts below it end before any function is called.
func TestContextFunctionsAreCalledLast(t *testing.T) {
	for parentName := range parentsOfRelatives {
		for endName, end := range endings {
			r := newRelatives(t, parentName)
			dones := donesOf([]context.Context{r.ctx, r.child, r.std})
			var called sync.WaitGroup
			for _, ctx := range []context.Context{r.ctx, r.child} {
				called.Add(1)
				afterEnd(ctx, func() {
					defer called.Done()
					for i, done := range dones {
						if doneState(done) == notDone {
							t.Errorf("%s/%s: %d", parentName, endName, i)
						}
					}
				})
			}
			end(r)
			called.Wait()
			r.cancelAll()
			r.w.Stop()
		}
	}
}
