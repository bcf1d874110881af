package compat_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

func TestNewTimingWheelWithTickerArguments(t *testing.T) {
	nop := func(any, any) {}
	for name, ticker := range map[string]compat.Ticker{
		"nil": nil, "nil pointer": (*fakeTicker)(nil), "nil channel": new(fakeTicker), "nil channel too": closingTicker{},
	} {
		w, err := compat.NewTimingWheelWithTicker(interval, 10, nop, ticker)
		require.Error(t, err, name)
		require.Contains(t, err.Error(), "interval: 1s, slots: 10, execute: 0x")
		require.Nil(t, w)
	}
	ticker := newFakeTicker()
	for _, c := range badArguments {
		w, err := compat.NewTimingWheelWithTicker(c.interval, c.slots, c.execute, ticker)
		require.EqualError(t, err, c.text())
		require.Nil(t, w)
	}
	require.Zero(t, ticker.stops.Load(), "the caller still owns the ticker")
}

func TestDelaysBetweenTicks(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		ticks int
	}{
		{1, 1}, {interval / 2, 1}, {interval - 1, 1}, {interval, 1},
		{interval + 1, 2}, {2*interval - 1, 2}, {2 * interval, 2}, {2*interval + 1, 3},
		{10 * interval, 10}, {11*interval - 1, 11},
	} {
		synctest.Test(t, func(t *testing.T) {
			ticker, tasks := newFakeTicker(), new(taskLog)
			w := newTickerWheel(t, 10, tasks.record, ticker)
			require.NoError(t, w.SetTimer("set", nil, c.delay))
			require.NoError(t, w.SetTimer("moved", nil, time.Hour))
			want := []string{fmt.Sprintf("set=<nil>@%d", c.ticks)}
			if c.delay >= interval {
				require.NoError(t, w.MoveTimer("moved", c.delay))
				want = []string{fmt.Sprintf("moved=<nil>@%d", c.ticks), want[0]}
			}
			for now := range 20 {
				tasks.at(now + 1)
				ticker.tick()
				settle()
			}
			require.Equal(t, want, tasks.take(), "%v", c.delay)
		})
	}
}

// The wheel's time moves with the ticks, not with the wall clock.
func TestNothingHappensBetweenTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, tasks := newFakeTicker(), new(taskLog)
		w := newTickerWheel(t, 10, tasks.record, ticker)
		require.NoError(t, w.SetTimer("a", 1, 2*interval))
		time.Sleep(time.Hour) // in the bubble's time
		ticker.tick()
		time.Sleep(time.Hour)
		require.Empty(t, tasks.take())
		tasks.at("the second")
		ticker.tick()
		settle()
		require.Equal(t, []string{"a=1@the second"}, tasks.take())
	})
}

func TestMoveBelowTheIntervalRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, tasks := newFakeTicker(), new(taskLog)
		w := newTickerWheel(t, 3, tasks.record, ticker)
		for now, d := range []time.Duration{1, interval / 2, interval - 1} {
			tasks.at(now)
			require.NoError(t, w.SetTimer("a", d, 4*interval))
			require.NoError(t, w.MoveTimer("a", d))
			settle()
			require.Equal(t, []string{fmt.Sprintf("a=%v@%d", d, now)}, tasks.take())
			ticker.tick()
		}
		for range 10 { // the task does not run again
			ticker.tick()
		}
		settle()
		require.Empty(t, tasks.take())
		require.NoError(t, w.MoveTimer("a", 1), "it has no timer")
		settle()
		require.Empty(t, tasks.take())
	})
}

// Once the call that runs the task at once has returned, no later call can stop the task,
// delay it or change its value.
func TestMoveBelowTheIntervalIsFinal(t *testing.T) {
	for name, then := range map[string]func(w *compat.TimingWheel) error{
		"remove": func(w *compat.TimingWheel) error { return w.RemoveTimer("a") },
		"move":   func(w *compat.TimingWheel) error { return w.MoveTimer("a", time.Hour) },
		"set": func(w *compat.TimingWheel) error {
			defer func() { _ = w.RemoveTimer("a") }()
			return w.SetTimer("a", 2, time.Hour)
		},
		"drain": func(w *compat.TimingWheel) error { return w.Drain(func(any, any) { panic("the timer was drained") }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ticker, tasks := newFakeTicker(), new(taskLog)
				w := newTickerWheel(t, 3, tasks.record, ticker)
				for range 500 { // the wheel may still be busy with the last call
					require.NoError(t, w.SetTimer("a", 1, time.Hour))
					require.NoError(t, w.MoveTimer("a", interval/2))
					require.NoError(t, then(w))
				}
				settle()
				require.Equal(t, slices.Repeat([]string{"a=1@"}, 500), tasks.take())
			})
		})
	}
}

// A tick that was sent is counted before the next call of its sender, also if the channel
// has a buffer, as those of package time and of go-zero's fake ticker have.
func TestATickSentIsCounted(t *testing.T) {
	for buffer := range 3 {
		synctest.Test(t, func(t *testing.T) {
			ticker, tasks := newBufferedTicker(buffer), new(taskLog)
			w := newTickerWheel(t, 3, tasks.record, ticker)
			for i := range 500 {
				require.NoError(t, w.RemoveTimer("none")) // the wheel may still be busy with this call
				ticker.tick()
				require.NoError(t, w.SetTimer("a", i, interval))
				settle()
				require.Empty(t, tasks.take(), "it ran at a tick from before it was set")
				ticker.tick()
				require.NoError(t, w.SetTimer("a", "next", interval)) // does not replace the due timer
				require.NoError(t, w.RemoveTimer("a"))
				settle()
				require.Equal(t, []string{fmt.Sprintf("a=%d@", i)}, tasks.take())
			}
		})
	}
}

// Ticks and calls from several goroutines: no timer is lost, and none runs early.
func TestTicksBesideCalls(t *testing.T) {
	const callers, each = 4, 500
	var begun, sent, tasks, early atomic.Int64
	ticker := newFakeTicker()
	w := newTickerWheel(t, 10, func(_, value any) {
		if begun.Load() < value.(int64) {
			early.Add(1)
		}
		tasks.Add(1)
	}, ticker)
	finished := make(chan bool)
	for g := range callers {
		go func() {
			defer func() { finished <- true }()
			for i := range each {
				k := int64(1 + i%7)
				key, due, d := [2]int{g, i}, sent.Load()+k, time.Duration(k)*interval
				if w.SetTimer(key, due, d) != nil || i%3 == 0 && w.MoveTimer(key, d) != nil {
					t.Error("refused")
				}
			}
		}()
	}
	for left := callers; left > 0 || tasks.Load() < callers*each; {
		select {
		case <-finished:
			left--
		default:
			begun.Add(1)
			ticker.tick()
			sent.Add(1)
		}
	}
	require.Zero(t, early.Load())
	require.EqualValues(t, callers*each, tasks.Load())
}
