package contexts

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func TestContextCauseOfParent(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	for range 20000 {
		parent, cancelParent := context.WithCancelCause(context.Background())
		ctx, cancel := under(parent, w)
		cause := make(chan error)
		go func() {
			for ctx.Err() == nil {
			}
			cause <- context.Cause(ctx)
		}()
		cancelParent(errParent)
		require.Equal(t, errParent, <-cause)
		cancel()
	}
}

func TestContextErrAndCauseOfDifferentEvents(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	for range 50000 {
		parent, cancelParent := context.WithCancelCause(context.Background())
		ctx, cancel := under(parent, w)
		var all sync.WaitGroup
		all.Go(func() { cancelParent(errParent) })
		m.Add(time.Second)
		all.Wait()
		want := map[error]error{errLate: context.DeadlineExceeded, errParent: context.Canceled}
		require.Equal(t, want[context.Cause(ctx)], ctx.Err(), "%v", context.Cause(ctx))
		cancel()
	}
}

func TestContextChildOfAValueAtOnce(t *testing.T) {
	for _, expire := range []bool{true, false} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		ctx, cancel := background(w)
		defer cancel()
		child, cancelChild := context.WithCancel(context.WithValue(ctx, contextKey{}, 1))
		defer cancelChild()
		if expire {
			m.Add(time.Second)
		} else {
			cancel()
		}
		require.Error(t, child.Err())
	}
}

func TestContextChildOfACancelledParentAtOnce(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	parent, cancelParent := context.WithCancel(context.Background())
	ctx, cancel := under(parent, w)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	cancelParent()
	require.Error(t, ctx.Err())
	require.Error(t, child.Err())
}

func TestContextTimerOfACancelledParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		parent, cancelParent := context.WithCancel(context.Background())
		ctx, cancel := under(parent, w)
		defer cancel()
		ctx.Done()
		cancelParent()
		synctest.Wait()
		require.Zero(t, w.Len())
	})
}

func TestContextOfAnEarlierParentOnAStoppedWheel(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	parent, cancelParent := context.WithDeadline(context.Background(), time.Now().Add(time.Hour))
	defer cancelParent()
	before, cancel := w.WithDeadline(parent, time.Now().Add(2*time.Hour))
	defer cancel()
	w.Stop()
	after, cancel := w.WithDeadline(parent, time.Now().Add(2*time.Hour))
	defer cancel()
	require.Equal(t, hierarchy.ErrClosed, context.Cause(after))
	require.Equal(t, hierarchy.ErrClosed, context.Cause(before))
}

// TestContextConcurrently lets a context expire, be cancelled and get children at
// once. Whatever comes first, Err and Cause are of the same event, and children
// agree.
func TestContextConcurrently(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	for i := range 500 {
		ctx, cancel := w.WithTimeoutCause(context.Background(), time.Duration(i%20)*5*time.Microsecond, errLate)
		children := raceForChildren(w, ctx, cancel)
		want := map[error]error{errLate: context.DeadlineExceeded, context.Canceled: context.Canceled}
		require.Equal(t, want[context.Cause(ctx)], ctx.Err())
		for _, child := range children {
			<-child.Done()
			require.Equal(t, ctx.Err(), child.Err())
			require.Equal(t, context.Cause(ctx), context.Cause(child))
		}
	}
	wheeltest.RequireBalance(t, w)
}

func under(parent context.Context, w *hierarchy.Wheel) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(parent, time.Second, errLate)
}
