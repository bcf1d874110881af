package contexts

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// afterEnd has f called by whatever ends ctx, in the same goroutine.
func afterEnd(ctx context.Context, f func()) {
	ctx.(interface {
		AfterFunc(func()) (stop func() bool)
	}).AfterFunc(f)
}

// manyContexts returns contexts of w, the middle one of which calls f when it ends.
func manyContexts(t *testing.T, w *hierarchy.Wheel, f func()) []context.Context {
	all := make([]context.Context, 9)
	for i := range all {
		ctx, cancel := w.WithTimeout(context.Background(), time.Hour)
		t.Cleanup(cancel)
		all[i] = ctx
	}
	afterEnd(all[len(all)/2], f)
	return all
}

func requireAllClosed(t *testing.T, all []context.Context) {
	t.Helper()
	for _, ctx := range all {
		require.Error(t, ctx.Err(), "at once")
		requireCancelled(t, ctx, hierarchy.ErrClosed)
	}
}

// A function that a context calls when the wheel stops may stop the wheel itself, in its own
// goroutine and in others.
func TestStopInsideStop(t *testing.T) {
	var w *hierarchy.Wheel
	for name, f := range map[string]func(){
		"itself": func() { w.Stop() },
		"in another goroutine": func() {
			var other sync.WaitGroup
			other.Go(w.Stop)
			other.Wait()
		},
		"in OnPanic": func() { panic("f") },
	} {
		t.Run(name, func(t *testing.T) {
			w, _ = wheeltest.OnMock(t, hierarchy.Config{OnPanic: func(any, []byte) { w.Stop() }})
			ran := false
			all := manyContexts(t, w, func() { ran = true; f() })
			w.Stop()
			require.True(t, ran)
			requireAllClosed(t, all)
			wheeltest.RequireBalance(t, w)
		})
	}
}

// If such functions exit their goroutine, the other contexts end nevertheless.
func TestGoexitInsideStop(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	all := manyContexts(t, w, runtime.Goexit)
	afterEnd(all[0], runtime.Goexit)
	afterEnd(all[len(all)-1], runtime.Goexit)
	var stopper sync.WaitGroup
	stopper.Go(w.Stop)
	stopper.Wait()
	requireAllClosed(t, all)
}

// A panic of such a function goes on in Stop, after the other contexts have ended.
func TestPanicInsideStop(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	all := manyContexts(t, w, func() { panic("f") })
	require.PanicsWithValue(t, "f", w.Stop)
	requireAllClosed(t, all)
	require.NoError(t, w.Shutdown(t.Context()))
}

// Shutdown waits until a Stop that another goroutine has called has cancelled all contexts,
// unless its own context ends first.
func TestShutdownWaitsForStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
		all := manyContexts(t, w, func() { time.Sleep(time.Minute) })
		start := time.Now()
		go w.Stop()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Shutdown(ctx), context.DeadlineExceeded)
		require.NoError(t, w.Shutdown(t.Context()))
		require.Equal(t, time.Minute, time.Since(start))
		requireAllClosed(t, all)
		require.NoError(t, w.Shutdown(ctx), "Shutdown must not wait if nothing runs")
	})
}

// Inside such a function Shutdown waits for that function, as inside a callback.
func TestShutdownInsideStopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		all := manyContexts(t, w, func() { err = w.Shutdown(ctx) })
		w.Stop()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		requireAllClosed(t, all)
	})
}
