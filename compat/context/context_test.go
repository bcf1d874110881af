package context_test

import (
	standard "context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/context"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

var errLate = errors.New("late")

// deadlines are all ways to set a deadline an hour ahead, by the clock of the wheel.
var deadlines = map[string]struct {
	make  func(now time.Time, parent context.Context) (context.Context, context.CancelFunc)
	cause error
}{
	"WithTimeout": {func(_ time.Time, parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(parent, time.Hour)
	}, context.DeadlineExceeded},
	"WithTimeoutCause": {func(_ time.Time, parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeoutCause(parent, time.Hour, errLate)
	}, errLate},
	"WithDeadline": {func(now time.Time, parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithDeadline(parent, now.Add(time.Hour))
	}, context.DeadlineExceeded},
	"WithDeadlineCause": {func(now time.Time, parent context.Context) (context.Context, context.CancelFunc) {
		return context.WithDeadlineCause(parent, now.Add(time.Hour), errLate)
	}, errLate},
}

func TestDeadlines(t *testing.T) {
	for name, deadline := range deadlines {
		t.Run(name, func(t *testing.T) {
			m, p := onMock(t)
			ctx, cancel := deadline.make(m.Now(), context.Background())
			defer cancel()
			child, cancelChild := standard.WithCancel(standard.WithValue(ctx, &errLate, 1))
			defer cancelChild()
			at, ok := ctx.Deadline()
			require.True(t, ok)
			require.True(t, at.Equal(m.Now().Add(time.Hour)))
			require.Equal(t, 1, p.Len(), "on the wheel of the process")
			m.Add(time.Hour - 1)
			require.NoError(t, ctx.Err())
			m.Add(1)
			for _, c := range []context.Context{ctx, child} {
				<-c.Done()
				require.Equal(t, context.DeadlineExceeded, c.Err())
				require.Equal(t, deadline.cause, context.Cause(c))
			}
		})
	}
}

func TestCancel(t *testing.T) {
	for name, deadline := range deadlines {
		t.Run(name, func(t *testing.T) {
			m, p := onMock(t)
			parent, cancelParent := context.WithCancelCause(context.Background())
			ctx, cancel := deadline.make(m.Now(), parent)
			cancel()
			require.Equal(t, context.Canceled, ctx.Err())
			require.Zero(t, p.Len())

			ctx, cancel = deadline.make(m.Now(), parent)
			defer cancel()
			cancelParent(errLate)
			<-ctx.Done()
			require.Equal(t, context.Canceled, ctx.Err())
			require.Equal(t, errLate, context.Cause(ctx))
		})
	}
}

// In a bubble, contexts follow the bubble's time.
func TestBubble(t *testing.T) {
	_, p := onMock(t)
	synctest.Test(t, func(t *testing.T) {
		for _, deadline := range deadlines {
			start := time.Now()
			ctx, cancel := deadline.make(start, context.Background())
			<-ctx.Done()
			cancel()
			require.Equal(t, time.Hour, time.Since(start))
			require.Equal(t, deadline.cause, context.Cause(ctx))
		}
	})
	require.Zero(t, p.Stats().Scheduled)
}

// A nil parent panics as with package context.
func TestNilParent(t *testing.T) {
	var want any
	func() {
		defer func() { want = recover() }()
		_, cancel := standard.WithTimeout(nil, time.Hour) //lint:ignore SA1012 it must panic
		defer cancel()
	}()
	for _, deadline := range deadlines {
		require.PanicsWithValue(t, want, func() { deadline.make(time.Now(), nil) })
	}
}

// What a context allocates, in a program that is not a test.
func TestAllocations(t *testing.T) {
	defer process.AssumeNoBubbles()()
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for name, test := range map[string]struct {
		parent context.Context
		done   bool
		most   float64
	}{
		"Background":        {context.Background(), false, 3},
		"cancellable":       {parent, false, 5},
		"cancellable, Done": {parent, true, 6},
	} {
		keep, cancelKept := context.WithTimeout(context.Background(), time.Hour) // so that the wheel is not empty
		allocations := testing.AllocsPerRun(1000, func() {
			ctx, cancel := context.WithTimeout(test.parent, time.Hour)
			if test.done {
				ctx.Done()
			}
			cancel()
		})
		require.LessOrEqual(t, allocations, test.most, name)
		require.NoError(t, keep.Err())
		cancelKept()
	}
}
