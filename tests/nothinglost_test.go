package tests

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// setters are all methods of a Wheel that set something after d and return an error.
var setters = map[string]func(w *wheel, m *clock.Mock, d time.Duration) error{
	"AfterFunc": func(w *wheel, _ *clock.Mock, d time.Duration) error { _, err := w.AfterFunc(d, func() {}); return err },
	"At": func(w *wheel, m *clock.Mock, d time.Duration) error {
		_, err := w.At(m.Now().Add(d), func() {})
		return err
	},
	"Every": func(w *wheel, _ *clock.Mock, d time.Duration) error { _, err := w.Every(d, func() {}); return err },
	"Schedule": func(w *wheel, m *clock.Mock, d time.Duration) error {
		_, err := w.Schedule(once(m.Now().Add(d)), func() {})
		return err
	},
	"After":     func(w *wheel, _ *clock.Mock, d time.Duration) error { _, err := w.After(d); return err },
	"NewTimer":  func(w *wheel, _ *clock.Mock, d time.Duration) error { _, err := w.NewTimer(d); return err },
	"NewTicker": func(w *wheel, _ *clock.Mock, d time.Duration) error { _, err := w.NewTicker(d); return err },
	"Sleep":     func(w *wheel, _ *clock.Mock, d time.Duration) error { return w.Sleep(context.Background(), d) },
	"WithTimeout": func(w *wheel, _ *clock.Mock, d time.Duration) error {
		c, cancel := w.WithTimeout(context.Background(), d)
		defer cancel()
		return whyCanceled(c)
	},
	"WithDeadline": func(w *wheel, m *clock.Mock, d time.Duration) error {
		c, cancel := w.WithDeadline(context.Background(), m.Now().Add(d))
		defer cancel()
		return whyCanceled(c)
	},
	"WithTimeoutCause": func(w *wheel, _ *clock.Mock, d time.Duration) error {
		c, cancel := w.WithTimeoutCause(context.Background(), d, context.DeadlineExceeded)
		defer cancel()
		return whyCanceled(c)
	},
}

// whyCanceled returns the cause of a context that must be canceled.
func whyCanceled(c context.Context) error {
	if c.Err() == context.Canceled {
		return context.Cause(c)
	}
	return nil
}

func TestEverySetterSaysClosedOrFull(t *testing.T) {
	for name, set := range setters {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			w := newWheel(t, hierarchy.Config{Clock: m, MaxPending: 1})
			last := mustSet(t, w, time.Hour, func() {})
			returns(t, func() { require.ErrorIs(t, set(w, m, time.Hour), hierarchy.ErrFull) })
			require.Equal(t, 1, w.Len(), "a refused call must set nothing")
			require.True(t, last.Stop())
			if name != "Sleep" {
				require.NoError(t, set(w, m, time.Hour), "a stopped timer must make room")
			}
			w.Stop()
			returns(t, func() { require.ErrorIs(t, set(w, m, time.Hour), hierarchy.ErrClosed) })
			require.Zero(t, w.Len())
		})
	}
}

func TestKeyedAndOfSayClosedOrFull(t *testing.T) {
	m := clock.NewMock()
	k := newKeyed(t, hierarchy.Config{Clock: m, MaxPending: 1}, func(string, int) {})
	require.NoError(t, k.Set("a", 1, time.Hour))
	require.ErrorIs(t, k.Set("b", 1, time.Hour), hierarchy.ErrFull)
	_, _, err := k.Swap("b", 1, time.Hour)
	require.ErrorIs(t, err, hierarchy.ErrFull)
	require.NoError(t, k.Set("a", 2, time.Hour), "setting a key again needs no room")
	k.Stop()
	require.ErrorIs(t, k.Set("a", 1, time.Hour), hierarchy.ErrClosed)
	_, _, err = k.Swap("a", 1, time.Hour)
	require.ErrorIs(t, err, hierarchy.ErrClosed)
	_, err = k.Move("a", time.Hour)
	require.ErrorIs(t, err, hierarchy.ErrClosed)

	o := newOf(t, hierarchy.Config{Clock: m, MaxPending: 1}, func(int) {})
	_, err = o.Set(1, time.Hour)
	require.NoError(t, err)
	_, err = o.Set(1, time.Hour)
	require.ErrorIs(t, err, hierarchy.ErrFull)
	o.Stop()
	_, err = o.Set(1, time.Hour)
	require.ErrorIs(t, err, hierarchy.ErrClosed)
}

func TestNilFunctionsAndBadArgumentsAreErrors(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Clock: clock.NewMock()})
	for _, set := range []func() error{
		func() error { _, err := w.AfterFunc(1, nil); return err },
		func() error { _, err := w.At(time.Now(), nil); return err },
		func() error { _, err := w.Every(1, nil); return err },
		func() error { _, err := w.Schedule(hourly{}, nil); return err },
		func() error { _, err := hierarchy.NewOf[int](hierarchy.Config{}, nil); return err },
		func() error { _, err := hierarchy.NewKeyed[int, int](hierarchy.Config{}, nil); return err },
	} {
		require.ErrorIs(t, set(), hierarchy.ErrNilFunc)
	}
	for _, bad := range []func() error{
		func() error { _, err := w.Every(0, func() {}); return err },
		func() error { _, err := w.Every(-1, func() {}); return err },
		func() error { _, err := w.NewTicker(0); return err },
		func() error { _, err := w.NewTicker(math.MinInt64); return err },
		func() error { _, err := w.Schedule(nil, func() {}); return err },
	} {
		require.ErrorIs(t, bad(), hierarchy.ErrArgument)
	}
	require.Zero(t, w.Len())
	r, err := w.Every(1, func() {})
	require.NoError(t, err)
	require.False(t, r.Reset(0) || r.Reset(-1))
}

func TestBadConfigsAreErrors(t *testing.T) {
	for _, cfg := range []hierarchy.Config{
		{Interval: -1}, {Precision: -1}, {MaxPending: -1}, {Shards: -1}, {Interval: 1, Precision: 2},
	} {
		_, err := hierarchy.New(cfg)
		require.ErrorIs(t, err, hierarchy.ErrArgument, "%+v", cfg)
		_, err = hierarchy.NewOf(cfg, func(int) {})
		require.ErrorIs(t, err, hierarchy.ErrArgument, "%+v", cfg)
		_, err = hierarchy.NewKeyed(cfg, func(int, int) {})
		require.ErrorIs(t, err, hierarchy.ErrArgument, "%+v", cfg)
	}
}

func TestKeysThatCannotBeComparedAreErrors(t *testing.T) {
	m, fired := clock.NewMock(), 0
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(any, int) { fired++ })
	require.NoError(t, err)
	defer w.Stop()
	for _, k := range []any{[]int{1}, map[int]int{}, func() {}, struct{ a any }{[]int{}}} {
		require.ErrorIs(t, w.Set(k, 1, 1), hierarchy.ErrArgument)
		_, _, err = w.Swap(k, 1, 1)
		require.ErrorIs(t, err, hierarchy.ErrArgument)
		_, err = w.Move(k, 1)
		require.ErrorIs(t, err, hierarchy.ErrArgument)
		_, ok := w.Remove(k)
		require.False(t, ok)
		_, _, ok = w.Get(k)
		require.False(t, ok)
	}
	for range 3 { // NaN is never equal to NaN: each Set makes a new timer
		require.NoError(t, w.Set(math.NaN(), 1, 1))
	}
	require.Equal(t, 3, w.Len())
	m.Add(1)
	require.Equal(t, 3, fired)
	require.Zero(t, w.Len())
}

// On a closed wheel the cause is ErrClosed, even for a context with no time left.
func TestTimeoutOfZeroOnAClosedWheel(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Clock: clock.NewMock()})
	w.Stop()
	x, cancel := w.WithTimeout(context.Background(), 0)
	defer cancel()
	require.ErrorIs(t, context.Cause(x), hierarchy.ErrClosed)
}
