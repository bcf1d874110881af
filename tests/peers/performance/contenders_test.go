package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeromicro/go-zero/core/collection"
	"github.com/zeromicro/go-zero/core/logx"

	"github.com/epicycle-go/epicycle/compat"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// timers are set by one of the contenders. i is the number of a timer, and its
// key where timers have keys. All have the same callback, so that no closure is
// measured with them.
type timers struct {
	set     func(i int, d time.Duration)
	setStop func(i int, d time.Duration)
}

// contender can set timers numbered from 0 to keys.
type contender struct {
	name string
	open func(tb testing.TB, keys int) timers
}

var contenders = []contender{
	{"time", openTime},
	{"go-zero", openGoZero},
	{"heap", openHeap},
	{"wheel", openWheel},
	{"of", openOf},
	{"keyed", openKeyed},
	{"compat", openCompat},
}

func nop() {}

func openTime(testing.TB, int) timers {
	return timers{
		set:     func(_ int, d time.Duration) { time.AfterFunc(d, nop) },
		setStop: func(_ int, d time.Duration) { time.AfterFunc(d, nop).Stop() },
	}
}

func openHeap(tb testing.TB, _ int) timers {
	h := newHeapTimers()
	tb.Cleanup(func() { close(h.done) })
	return timers{
		set:     func(_ int, d time.Duration) { h.afterFunc(d, nop) },
		setStop: func(_ int, d time.Duration) { h.stop(h.afterFunc(d, nop)) },
	}
}

func openWheel(tb testing.TB, _ int) timers {
	w, err := hierarchy.New(hierarchy.Config{})
	require.NoError(tb, err)
	tb.Cleanup(w.Stop)
	return timers{
		set: func(_ int, d time.Duration) { _, _ = w.AfterFunc(d, nop) },
		setStop: func(_ int, d time.Duration) {
			t, _ := w.AfterFunc(d, nop)
			t.Stop()
		},
	}
}

func openOf(tb testing.TB, _ int) timers {
	w, err := hierarchy.NewOf(hierarchy.Config{}, func(int) {})
	require.NoError(tb, err)
	tb.Cleanup(w.Stop)
	return timers{
		set: func(i int, d time.Duration) { _, _ = w.Set(i, d) },
		setStop: func(i int, d time.Duration) {
			t, _ := w.Set(i, d)
			t.Stop()
		},
	}
}

func openKeyed(tb testing.TB, _ int) timers {
	w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(int, int) {})
	require.NoError(tb, err)
	tb.Cleanup(w.Stop)
	return timers{
		set: func(i int, d time.Duration) { _ = w.Set(i, i, d) },
		setStop: func(i int, d time.Duration) {
			_ = w.Set(i, i, d)
			w.Remove(i)
		},
	}
}

// wheel is what go-zero's timing wheel is, and ours of compat.
type wheel interface {
	SetTimer(key, value any, delay time.Duration) error
	RemoveTimer(key any) error
	Stop()
}

// The ring is that of go-zero's own cache.
const (
	ringInterval = time.Second
	ringSlots    = 300
)

func openGoZero(tb testing.TB, keys int) timers {
	logx.Disable()
	w, err := collection.NewTimingWheel(ringInterval, ringSlots, func(_, _ any) {})
	return boxed(tb, keys, w, err)
}

func openCompat(tb testing.TB, keys int) timers {
	w, err := compat.NewTimingWheel(ringInterval, ringSlots, func(_, _ any) {})
	return boxed(tb, keys, w, err)
}

// boxed makes interfaces of all keys beforehand: to make one is not what is
// measured.
func boxed(tb testing.TB, n int, w wheel, err error) timers {
	require.NoError(tb, err)
	tb.Cleanup(w.Stop)
	keys := make([]any, n)
	for i := range keys {
		keys[i] = i
	}
	return timers{
		set: func(i int, d time.Duration) { _ = w.SetTimer(keys[i], nil, d) },
		setStop: func(i int, d time.Duration) {
			_ = w.SetTimer(keys[i], nil, d)
			_ = w.RemoveTimer(keys[i])
		},
	}
}
