package contexts

import (
	"context"
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

// addFunctions adds functions to contexts. Each first counts in called and then calls f.
func addFunctions(all []context.Context, called *atomic.Int32, f func()) {
	for _, ctx := range all {
		for range 3 {
			afterEnd(ctx, func() { called.Add(1); f() })
		}
	}
}

// If a function of a context exits the goroutine, the others are called nevertheless, and
// all contexts end.
func TestContextFunctionsThatExit(t *testing.T) {
	for parentName := range parentsOfRelatives {
		for endName, end := range endings {
			r := newRelatives(t, parentName)
			var called atomic.Int32
			functionsOf := []context.Context{r.ctx, r.child, r.grandchild}
			addFunctions(functionsOf, &called, runtime.Goexit)
			elsewhere(func() { end(r) })
			for _, ctx := range append(functionsOf, r.std) {
				requireReturns(t, func() { <-ctx.Done() }, parentName+"/"+endName)
			}
			require.Eventually(t, func() bool { return called.Load() == 9 }, 20*time.Second, time.Millisecond, parentName+"/"+endName)
			r.cancelAll()
			r.w.Stop()
		}
	}
}

// If a function of a context panics, the others are called before the panic goes on in the
// call that ended the context.
func TestContextFunctionThatPanics(t *testing.T) {
	for endName, end := range endings {
		r := newRelatives(t, "does not notify")
		var called atomic.Int32
		functionsOf := []context.Context{r.ctx, r.child}
		addFunctions(functionsOf, &called, nop)
		addFunctions(functionsOf, &called, func() {
			if called.Load() == 5 {
				panic("f")
			}
		})
		addFunctions(functionsOf, &called, nop)
		require.PanicsWithValue(t, "f", func() { end(r) }, endName)
		require.EqualValues(t, 18, called.Load(), endName)
		for _, ctx := range append(functionsOf, r.std) {
			require.Error(t, ctx.Err(), endName)
			<-ctx.Done()
		}
		r.cancelAll()
		r.w.Stop()
	}
}

// If a function of one context exits the goroutine in which the common parent tells all
// contexts below it, the other contexts end nevertheless.
func TestContextFunctionsThatExitBelowOneParent(t *testing.T) {
	for _, n := range contextCounts {
		synctest.Test(t, func(t *testing.T) {
			w := wheeltest.OnSystem(t, hierarchy.Config{})
			parent, cancelParent := context.WithCancel(context.Background())
			var called atomic.Int32
			var all []context.Context
			for range n {
				all = append(all, newContext(wheelContexts(w), parent))
			}
			addFunctions(all, &called, runtime.Goexit)
			cancelParent()
			synctest.Wait()
			require.EqualValues(t, 3*n, called.Load())
			require.Zero(t, w.Len())
		})
	}
}

// At a deadline OnPanic gets the panic of a function, as it gets that of a callback.
func TestContextFunctionThatPanicsAtTheDeadline(t *testing.T) {
	m := clock.NewMock()
	var recovered []any
	w := wheeltest.New(t, hierarchy.Config{Clock: m, OnPanic: func(r any, _ []byte) { recovered = append(recovered, r) }})
	ctx, cancel := background(w)
	defer cancel()
	afterEnd(ctx, func() { panic("f") })
	m.Add(time.Second)
	require.Equal(t, []any{"f"}, recovered)
	require.EqualValues(t, 1, w.Stats().Panics)
	require.Equal(t, errLate, context.Cause(ctx))
}
