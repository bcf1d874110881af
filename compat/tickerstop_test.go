package compat_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

// closingTicker is a ticker whose Stop closes its channel, as go-zero's does.
type closingTicker struct{ c chan time.Time }

func (c closingTicker) Chan() <-chan time.Time { return c.c }
func (c closingTicker) Stop()                  { close(c.c) }

func TestTicksEnd(t *testing.T) {
	l := captureLogs(t)
	for range 300 { // the wheel may be busy with the call, or not yet
		ticker := closingTicker{make(chan time.Time, 1)}
		w := newTickerWheel(t, 3, func(any, any) { t.Error("a task runs") }, ticker)
		require.NoError(t, w.SetTimer("a", 1, interval))
		ticker.Stop()
		require.Equal(t, compat.ErrClosed, w.SetTimer("a", 1, interval))
		requireClosed(t, w)
		w.Stop()
	}
	require.Empty(t, l.take(t))
}

// The ticker's channel is closed while other goroutines use the wheel.
func TestTicksEndBesideCalls(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			ticker := newFakeTicker()
			w := newTickerWheel(t, 3, func(any, any) {}, ticker)
			var wg sync.WaitGroup
			for g := range 3 {
				wg.Go(func() {
					for w.SetTimer(g, nil, interval) == nil && w.MoveTimer(g, 1) == nil {
						runtime.Gosched() // otherwise ticks wait long on one processor
					}
				})
			}
			for range 20 {
				ticker.tick()
			}
			close(ticker.c)
			wg.Wait()
			requireClosed(t, w)
		})
	}
}

// A tick that was sent before the channel was closed is counted.
func TestLastTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, tasks := closingTicker{make(chan time.Time, 1)}, new(taskLog)
		w := newTickerWheel(t, 3, tasks.record, ticker)
		require.NoError(t, w.SetTimer("a", 1, interval))
		ticker.c <- time.Now()
		settle()
		ticker.Stop()
		settle()
		requireClosed(t, w)
		require.Equal(t, []string{"a=1@"}, tasks.take())
	})
}

func TestStopStopsTheTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := newFakeTicker()
		w := newTickerWheel(t, 3, func(any, any) {}, ticker)
		for range 3 {
			w.Stop()
			requireClosed(t, w)
			settle()
			require.EqualValues(t, 1, ticker.stops.Load())
		}

		ticker = newFakeTicker()
		w = newTickerWheel(t, 3, func(any, any) {}, ticker)
		close(ticker.c)
		settle()
		w.Stop()
		settle()
		require.Zero(t, ticker.stops.Load(), "a ticker whose channel is closed is not stopped")
	})
}

// lateTicker is a ticker whose second call of Chan blocks until release is closed. The
// constructor of the wheel makes the first call, the goroutine that counts ticks the second.
type lateTicker struct {
	*fakeTicker
	calls   *atomic.Int32
	release chan struct{}
}

func (l lateTicker) Chan() <-chan time.Time {
	if l.calls.Add(1) == 2 {
		<-l.release
	}
	return l.fakeTicker.Chan()
}

// A stopped wheel stops its ticker at once. It does not first receive all ticks in the
// channel, which might never end with a fast ticker.
func TestStopComesBeforeTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ticks = 5
		ticker := lateTicker{newBufferedTicker(ticks), new(atomic.Int32), make(chan struct{})}
		for range ticks {
			ticker.tick()
		}
		w := newTickerWheel(t, 3, func(any, any) {}, ticker)
		w.Stop()
		close(ticker.release)
		settle()
		require.EqualValues(t, 1, ticker.stops.Load())
		require.GreaterOrEqual(t, len(ticker.c), ticks-1, "one may be received to see whether the channel is closed")
	})
}

// The wheel and the owner both stop the ticker, in either order. A second Stop of
// go-zero's ticker panics.
func TestTickerStoppedByBoth(t *testing.T) {
	l := captureLogs(t)
	synctest.Test(t, func(t *testing.T) {
		ticker := closingTicker{make(chan time.Time, 1)}
		w := newTickerWheel(t, 3, func(any, any) {}, ticker)
		ticker.Stop()
		w.Stop()
		settle()
		require.Empty(t, l.take(t))

		ticker = closingTicker{make(chan time.Time, 1)}
		ticker.c <- time.Time{}
		w = newTickerWheel(t, 3, func(any, any) {}, ticker)
		w.Stop()
		settle()
		require.Panics(t, ticker.Stop, "the wheel has stopped it")
	})
}

// panickingTicker is a ticker whose Stop panics.
type panickingTicker struct{ *fakeTicker }

func (panickingTicker) Stop() { panic("can't be stopped") }

func TestTickerThatPanics(t *testing.T) {
	l := captureLogs(t)
	synctest.Test(t, func(t *testing.T) {
		w := newTickerWheel(t, 3, func(any, any) {}, panickingTicker{newFakeTicker()})
		w.Stop()
		settle()
		lines := l.take(t)
		require.Len(t, lines, 1)
		require.Equal(t, "can't be stopped", lines[0]["panic"])
	})
}
