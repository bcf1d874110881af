package timers

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// hourly is a Schedule that never ends.
type hourly struct{}

func (hourly) Next(t time.Time) time.Time { return t.Add(time.Hour) }

// setters are all ways to set something for an hour.
var setters = map[string]func(w *hierarchy.Wheel) error{
	"AfterFunc":   func(w *hierarchy.Wheel) error { _, err := w.AfterFunc(time.Hour, nop); return err },
	"AfterInline": func(w *hierarchy.Wheel) error { _, err := w.AfterInline(time.Hour, func(time.Time) {}); return err },
	"At":          func(w *hierarchy.Wheel) error { _, err := w.At(time.Now(), nop); return err },
	"Every":       func(w *hierarchy.Wheel) error { _, err := w.Every(time.Hour, nop); return err },
	"Schedule":    func(w *hierarchy.Wheel) error { _, err := w.Schedule(hourly{}, nop); return err },
	"After":       func(w *hierarchy.Wheel) error { _, err := w.After(time.Hour); return err },
	"NewTimer":    func(w *hierarchy.Wheel) error { _, err := w.NewTimer(time.Hour); return err },
	"NewTicker":   func(w *hierarchy.Wheel) error { _, err := w.NewTicker(time.Hour); return err },
	"Sleep":       func(w *hierarchy.Wheel) error { return w.Sleep(context.Background(), time.Hour) },
	"WithTimeout": func(w *hierarchy.Wheel) error {
		ctx, cancel := w.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		return context.Cause(ctx)
	},
}

func TestSetOnStoppedWheel(t *testing.T) {
	for name, set := range setters {
		w, _ := wheeltest.OnMock(t, hierarchy.Config{})
		w.Stop()
		require.ErrorIs(t, set(w), hierarchy.ErrClosed, name)
		require.Zero(t, w.Stats().Scheduled, name)
	}
}

func TestBadArguments(t *testing.T) {
	tests := map[string]struct {
		set  func(w *hierarchy.Wheel) error
		want error
	}{
		"AfterFunc":   {func(w *hierarchy.Wheel) error { _, err := w.AfterFunc(1, nil); return err }, hierarchy.ErrNilFunc},
		"AfterInline": {func(w *hierarchy.Wheel) error { _, err := w.AfterInline(1, nil); return err }, hierarchy.ErrNilFunc},
		"At":          {func(w *hierarchy.Wheel) error { _, err := w.At(time.Now(), nil); return err }, hierarchy.ErrNilFunc},
		"Every":       {func(w *hierarchy.Wheel) error { _, err := w.Every(1, nil); return err }, hierarchy.ErrNilFunc},
		"Every 0":     {func(w *hierarchy.Wheel) error { _, err := w.Every(0, nop); return err }, hierarchy.ErrArgument},
		"Every -1":    {func(w *hierarchy.Wheel) error { _, err := w.Every(-1, nop); return err }, hierarchy.ErrArgument},
		"Schedule":    {func(w *hierarchy.Wheel) error { _, err := w.Schedule(hourly{}, nil); return err }, hierarchy.ErrNilFunc},
		"no plan":     {func(w *hierarchy.Wheel) error { _, err := w.Schedule(nil, nop); return err }, hierarchy.ErrArgument},
		"ticker 0":    {func(w *hierarchy.Wheel) error { _, err := w.NewTicker(0); return err }, hierarchy.ErrArgument},
		"ticker -1":   {func(w *hierarchy.Wheel) error { _, err := w.NewTicker(-1); return err }, hierarchy.ErrArgument},
	}
	for name, test := range tests {
		w, _ := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
		require.ErrorIs(t, test.set(w), test.want, name)
		require.Zero(t, w.Stats().Scheduled, name)
		_, err := w.AfterFunc(0, nop)
		require.NoError(t, err, "a refused %s must take no place", name)
	}
}

func TestAfterFuncFiresAtItsDeadline(t *testing.T) {
	for _, d := range []time.Duration{
		1, time.Microsecond, 1700 * time.Microsecond, time.Second, 61500 * time.Millisecond,
		time.Hour + 1, 3 * 365 * 24 * time.Hour, math.MaxInt64,
	} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		at := time.Duration(-1)
		_, err := w.AfterFunc(d, func() { at = m.Elapsed() })
		require.NoError(t, err)
		m.Add(d - 1)
		require.EqualValues(t, -1, at, "a delay of %v: fired early", d)
		m.Add(1)
		require.Equal(t, d, at)
	}
}

func TestAfterFuncOfNoDelay(t *testing.T) {
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		m.Add(time.Hour)
		fired := 0
		_, err := w.AfterFunc(d, func() { fired++ })
		require.NoError(t, err)
		require.Zero(t, fired, "fired inside the call that set it")
		m.Add(0)
		require.Equal(t, 1, fired)
	}
}

func TestAtIsComputedOnce(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	m.Jump(time.Hour)
	var at time.Duration
	_, err := w.At(m.Now().Add(time.Minute), func() { at = m.Elapsed() })
	require.NoError(t, err)
	m.Jump(-30 * time.Minute)
	m.Add(time.Hour)
	require.Equal(t, time.Minute, at)
}

func TestAtOfThePast(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	fired := 0
	for _, at := range []time.Time{{}, m.Now(), m.Now().Add(-time.Hour)} {
		_, err := w.At(at, func() { fired++ })
		require.NoError(t, err)
	}
	require.Zero(t, fired)
	m.Add(0)
	require.Equal(t, 3, fired)
}

func TestBadPeriodIsExplained(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{})
	_, err := w.Every(0, nop)
	require.EqualError(t, err, "hierarchy: bad argument: period 0s must be positive")
}

// A clock may come to the end of time: the wheel fires what is due and sleeps.
func TestWakeAtTheEndOfTime(t *testing.T) {
	c := &wheeltest.LateClock{}
	w := wheeltest.New(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	fired := false
	_, err := w.AfterFunc(time.Second, func() { fired = true })
	require.NoError(t, err)
	c.Time = math.MaxInt64
	c.Ring()
	require.True(t, fired)
}
