package clock_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestMockAddFiresExactly(t *testing.T) {
	m, fired := clock.NewMock(), 0
	w, err := hierarchy.New(hierarchy.Config{Clock: m, Precision: time.Second})
	require.NoError(t, err)
	defer w.Stop()
	d := 61*time.Second + 500*time.Millisecond + 7
	after(t, w, d, func() { fired++ })
	m.Add(d - 1)
	require.Zero(t, fired)
	m.Add(1)
	require.Equal(t, 1, fired)
	m.Add(time.Hour)
	require.Equal(t, 1, fired)
	require.Equal(t, d+time.Hour, m.Elapsed())
}

func TestMockDueAtOnceWaitsForNextMove(t *testing.T) {
	moves := map[string]func(m *clock.Mock){
		"Add":     func(m *clock.Mock) { m.Add(0) },
		"Set":     func(m *clock.Mock) { m.Set(m.Now()) },
		"SetBack": func(m *clock.Mock) { m.Set(m.Now().Add(-time.Hour)) },
		"AddNext": func(m *clock.Mock) {
			d, ok := m.AddNext()
			require.True(t, ok)
			require.Zero(t, d)
		},
	}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			m, tr := clock.NewMock(), trace{}
			m.Add(time.Minute)
			w := newWheel(t, m, nil)
			after(t, w, 0, tr.note("zero"))
			after(t, w, -time.Second, tr.note("negative"))
			after(t, w, math.MinInt64, tr.note("least"))
			m.Jump(time.Hour)
			require.Empty(t, tr.take())
			move(m)
			require.Equal(t, []string{"zero", "negative", "least"}, tr.take())
			require.Equal(t, time.Minute, m.Elapsed())
		})
	}
}

func TestMockTimeInsideCallback(t *testing.T) {
	m, epoch := clock.NewMock(), time.Unix(0, 0).UTC()
	require.Equal(t, epoch, m.Now())
	w := newWheel(t, m, nil)
	for _, d := range []time.Duration{1, 999, time.Second, time.Hour, 1000 * time.Hour} {
		after(t, w, d, func() {
			require.Equal(t, d, m.Elapsed())
			require.Equal(t, epoch.Add(d), m.Now())
			require.Equal(t, d, m.Since(epoch))
			require.Equal(t, -d, m.Until(epoch))
		})
	}
	m.Add(2000 * time.Hour)
	require.Zero(t, w.Len())
}

func TestMockCallbacksSetTimersInTheSpan(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	w := newWheel(t, m, nil)
	after(t, w, time.Second, func() {
		after(t, w, time.Second, func() {
			tr.note(m.Elapsed().String())()
			after(t, w, 0, tr.note("at once"))
			after(t, w, time.Second, tr.note("at the end"))
			after(t, w, time.Second+1, tr.note("beyond"))
		})
	})
	m.Add(3 * time.Second)
	require.Equal(t, []string{"2s", "at once", "at the end"}, tr.take())
	m.Add(1)
	require.Equal(t, []string{"beyond"}, tr.take())
}

func TestMockSetAndJump(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	w := newWheel(t, m, nil)
	after(t, w, time.Hour, tr.note("fired"))
	m.Jump(24 * time.Hour)
	require.Equal(t, time.Unix(24*3600, 0).UTC(), m.Now())
	m.Jump(-48 * time.Hour)
	m.Set(m.Now().Add(-time.Hour))
	require.Zero(t, m.Elapsed())
	require.Empty(t, tr.take())
	now := m.Now()
	m.Set(now.Add(time.Hour - 1))
	require.Empty(t, tr.take())
	m.Set(now.Add(time.Hour))
	require.Equal(t, []string{"fired"}, tr.take())
	require.Equal(t, time.Hour, m.Elapsed())
}

func TestMockNext(t *testing.T) {
	m := clock.NewMock()
	v, w := newWheel(t, m, nil), newWheel(t, m, nil)
	next := func(want time.Duration) {
		t.Helper()
		d, ok := m.Next()
		require.True(t, ok)
		require.Equal(t, want, d)
	}
	_, ok := m.Next()
	require.False(t, ok)
	_, ok = m.AddNext()
	require.False(t, ok)
	after(t, v, 1000*time.Hour, func() {})
	first := after(t, w, time.Hour, func() { next(999 * time.Hour) })
	stopped := after(t, v, time.Minute, func() { t.Error("was stopped") })
	next(time.Minute)
	require.True(t, stopped.Stop())
	next(time.Hour)
	require.True(t, first.Reset(time.Hour+5))
	next(time.Hour + 5)
	require.True(t, first.Reset(time.Hour))
	m.Add(time.Minute)
	d, ok := m.AddNext()
	require.True(t, ok)
	require.Equal(t, 59*time.Minute, d)
	next(999 * time.Hour)
	v.Stop()
	_, ok = m.Next()
	require.False(t, ok)
}

func TestMockSaturatedDeadline(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	m.Add(time.Hour)
	w := newWheel(t, m, nil)
	after(t, w, math.MaxInt64, tr.note("last"))
	after(t, w, math.MaxInt64-1, tr.note("also last"))
	m.Add(math.MaxInt64 - 2*time.Hour)
	require.Empty(t, tr.take())
	d, ok := m.Next()
	require.True(t, ok)
	require.Equal(t, time.Hour, d)
	m.Add(math.MaxInt64)
	require.Equal(t, []string{"last", "also last"}, tr.take())
	require.Equal(t, time.Duration(math.MaxInt64), m.Elapsed())
	after(t, w, time.Second, tr.note("afterwards"))
	m.Add(0)
	require.Equal(t, []string{"afterwards"}, tr.take())
}

func TestMockConcurrentAddsQueue(t *testing.T) {
	const movers, moves = 16, 100
	m, fired := clock.NewMock(), 0 // no lock: the calls queue
	w := newWheel(t, m, nil)
	for i := range movers * moves {
		after(t, w, time.Duration(i+1), func() {
			fired++
			require.Equal(t, time.Duration(fired), m.Elapsed())
		})
	}
	var wg sync.WaitGroup
	for range movers {
		wg.Go(func() {
			for range moves {
				m.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, movers*moves, fired)
	require.Equal(t, time.Duration(movers*moves), m.Elapsed())
}

func TestMockWaitFor(t *testing.T) {
	m := clock.NewMock()
	v, w := newWheel(t, m, nil), newWheel(t, m, nil)
	require.NoError(t, m.WaitFor(context.Background(), 0))
	for i := range 20 {
		go after(t, []*hierarchy.Wheel{v, w}[i%2], time.Hour, func() {})
	}
	require.NoError(t, m.WaitFor(context.Background(), 20))
	require.Equal(t, 20, v.Len()+w.Len())
	require.NoError(t, m.WaitFor(context.Background(), 20))
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- m.WaitFor(ctx, 21) }()
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
}
