package clock_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/tests/long"
)

func TestMockManyDeadlines(t *testing.T) {
	const n = 100_000
	m, fired := clock.NewMock(), 0
	w := newWheel(t, m, nil)
	for i := range n {
		at := time.Duration(i*7919%n+1) * time.Millisecond
		after(t, w, at, func() {
			fired++
			if m.Elapsed() != at {
				t.Errorf("set for %v, fired at %v", at, m.Elapsed())
			}
		})
	}
	m.Add(n * time.Millisecond)
	require.Equal(t, n, fired)
}

func TestMockMillionTimersInAYear(t *testing.T) {
	const year = 365 * 24 * time.Hour
	n := 10_000
	if long.On() {
		n = 1_000_000
	}
	m, r, fired, last := clock.NewMock(), rand.New(rand.NewPCG(3, 4)), 0, time.Duration(0)
	w := newWheel(t, m, nil)
	for range n {
		at := time.Duration(r.Int64N(int64(year)))
		after(t, w, at, func() {
			fired++
			if m.Elapsed() != at || at < last {
				t.Errorf("set for %v, fired at %v, after that of %v", at, m.Elapsed(), last)
			}
			last = at
		})
	}
	m.Add(year)
	require.Equal(t, n, fired)
	require.Zero(t, w.Len())
}

func TestMockManyWheels(t *testing.T) {
	const wheels, each = 500, 20
	m, fired := clock.NewMock(), 0
	for i := range wheels {
		w := newWheel(t, m, nil)
		for j := range each {
			after(t, w, time.Duration(j)*time.Hour+time.Duration(wheels-i), func() {
				require.Equal(t, fired/wheels, j)
				require.Equal(t, fired%wheels, wheels-1-i)
				fired++
			})
		}
	}
	for i := range wheels {
		d, ok := m.AddNext()
		require.True(t, ok)
		require.Equal(t, time.Duration(1), d)
		require.Equal(t, i+1, fired)
	}
	m.Add(each * time.Hour)
	require.Equal(t, wheels*each, fired)
	_, ok := m.Next()
	require.False(t, ok)
}
