package hierarchy

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

// shortDelays is what ends within the call if its delay has passed by then. Each reports whether
// it has ended.
var shortDelays = map[string]func(t *testing.T, w *Wheel, d time.Duration) bool{
	"After": func(t *testing.T, w *Wheel, d time.Duration) bool {
		c, err := w.After(d)
		require.NoError(t, err)
		return len(c) == 1
	},
	"NewTimer": func(t *testing.T, w *Wheel, d time.Duration) bool {
		timer, err := w.NewTimer(d)
		require.NoError(t, err)
		return len(timer.C) == 1
	},
	"ChanTimer.Reset": func(t *testing.T, w *Wheel, d time.Duration) bool {
		timer, err := w.NewTimer(time.Hour)
		require.NoError(t, err)
		require.True(t, timer.Reset(d))
		return len(timer.C) == 1
	},
	"WithTimeout": func(t *testing.T, w *Wheel, d time.Duration) bool {
		ctx, cancel := w.WithTimeout(t.Context(), d)
		defer cancel()
		return ctx.Err() == context.DeadlineExceeded
	},
	"WithTimeoutCause": func(t *testing.T, w *Wheel, d time.Duration) bool {
		ctx, cancel := w.WithTimeoutCause(context.Background(), d, ErrFull)
		defer cancel()
		return context.Cause(ctx) == ErrFull
	},
	"WithDeadline": func(t *testing.T, w *Wheel, d time.Duration) bool {
		ctx, cancel := w.WithDeadline(t.Context(), w.Now().Add(d))
		defer cancel()
		return ctx.Err() == context.DeadlineExceeded
	},
}

// What is due by the time the call returns is done then, whatever the executor.
func TestShortDelayEndsWithinTheCall(t *testing.T) {
	for name, ends := range shortDelays {
		for by, executor := range map[string]Executor{"Go": Go, "Inline": Inline, "Pool": Pool(1)} {
			t.Run(name+" "+by, func(t *testing.T) {
				passing, err := New(Config{Clock: &handclock.Clock{Tick: 100}, Executor: executor})
				require.NoError(t, err)
				require.True(t, ends(t, passing, 1))
				require.Zero(t, passing.Len())
				standing, err := New(Config{Clock: &handclock.Clock{}, Executor: executor})
				require.NoError(t, err)
				require.False(t, ends(t, standing, 1))
				mocked, err := New(Config{Clock: clock.NewMock(), Executor: executor})
				require.NoError(t, err)
				require.False(t, ends(t, mocked, 1))
			})
		}
	}
}

// A sleeper does not have the wheel woken for a time that is shorter than that takes.
func TestSleepOfAnInstant(t *testing.T) {
	for _, d := range []time.Duration{1, 4 * time.Microsecond} {
		c := &handclock.Clock{Tick: 100}
		w, err := New(Config{Clock: c})
		require.NoError(t, err)
		require.NoError(t, w.Sleep(t.Context(), d))
		require.Zero(t, w.Stats().Scheduled)
		require.False(t, c.Aimed())
		require.GreaterOrEqual(t, c.Time.Load(), int64(d))
	}
}
