package timers

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

const maxPending = 2

// A taker takes a place under MaxPending of one of three wheels.
type taker struct {
	t     *testing.T
	m     *clock.Mock
	w     *hierarchy.Wheel
	of    *hierarchy.Of[int]
	keyed *hierarchy.Keyed[float64, int]
	stats func() hierarchy.Stats                         // of the wheel that it is on
	other func(d time.Duration) (stop func(), err error) // sets another timer on that wheel
	keys  float64                                        // how many keys other has used
	keeps bool                                           // it has its place until it is stopped
	reset func(d time.Duration) bool                     // sets it again after stop; nil: it can't be
}

func newTaker(t *testing.T) *taker {
	k := &taker{t: t}
	k.w, k.m = wheeltest.OnMock(t, hierarchy.Config{MaxPending: maxPending})
	var err error
	k.of, err = hierarchy.NewOf(hierarchy.Config{MaxPending: maxPending, Clock: k.m}, func(int) {})
	require.NoError(t, err)
	t.Cleanup(k.of.Stop)
	k.keyed, err = hierarchy.NewKeyed(hierarchy.Config{MaxPending: maxPending, Clock: k.m}, func(float64, int) {})
	require.NoError(t, err)
	t.Cleanup(k.keyed.Stop)
	k.stats, k.other = k.w.Stats, func(d time.Duration) (func(), error) { return stopOf(k.w.AfterFunc(d, nop)) }
	return k
}

// stopOf is a timer's Stop.
func stopOf(timer hierarchy.Timer, err error) (func(), error) { return func() { timer.Stop() }, err }

// onKeyed makes other set a key of its own each time.
func (k *taker) onKeyed() {
	k.stats, k.other = k.keyed.Stats, func(d time.Duration) (func(), error) {
		k.keys++
		key := k.keys
		return func() { k.keyed.Remove(key) }, k.keyed.Set(key, 1, d)
	}
}

// takers set each kind of timer for a second, and return what stops it.
var takers = map[string]func(k *taker) (stop func(), err error){
	"AfterFunc":   func(k *taker) (func(), error) { return stopOf(k.w.AfterFunc(time.Second, nop)) },
	"AfterInline": func(k *taker) (func(), error) { return stopOf(k.w.AfterInline(time.Second, func(time.Time) {})) },
	"At":          func(k *taker) (func(), error) { return stopOf(k.w.At(k.m.Now().Add(time.Second), nop)) },
	"After": func(k *taker) (func(), error) {
		_, err := k.w.After(time.Second)
		return func() { k.m.Add(time.Second) }, err // nothing else ends it
	},
	"Sleep": func(k *taker) (func(), error) {
		asleep := k.w.Len() + 1
		ctx, cancel := context.WithCancel(k.t.Context())
		over, end := context.WithCancelCause(k.t.Context())
		go func() { end(k.w.Sleep(ctx, time.Second)) }()
		if k.m.WaitFor(over, asleep) != nil {
			cancel()
			return nil, context.Cause(over)
		}
		return func() { cancel(); <-over.Done() }, nil
	},
	"context": func(k *taker) (func(), error) {
		ctx, cancel := k.w.WithTimeout(k.t.Context(), time.Second)
		return cancel, context.Cause(ctx)
	},
	"Idle": func(k *taker) (func(), error) {
		i, err := k.w.NewIdle(time.Second, nop)
		return func() { i.Stop() }, err
	},
	"Every": func(k *taker) (func(), error) {
		k.keeps = true
		r, err := k.w.Every(time.Second, nop)
		return func() { r.Stop() }, err
	},
	"Schedule": func(k *taker) (func(), error) {
		k.keeps = true
		r, err := k.w.Schedule(hierarchy.Aligned(time.Second, 0), nop)
		return func() { r.Stop() }, err
	},
	"Ticker": func(k *taker) (func(), error) {
		k.keeps = true
		ticker, err := k.w.NewTicker(time.Second)
		if err != nil {
			return nil, err
		}
		k.reset = ticker.Reset
		return func() { ticker.Stop() }, nil
	},
	"ChanTimer": func(k *taker) (func(), error) {
		k.keeps = true
		timer, err := k.w.NewTimer(time.Second)
		if err != nil {
			return nil, err
		}
		k.reset = timer.Reset
		return func() { timer.Stop() }, nil
	},
	"FuncTimer": func(k *taker) (func(), error) {
		timer := newFunc(k.t, k.w, nop)
		k.reset = timer.Reset
		timer.Reset(time.Second)
		return func() { timer.Stop() }, nil
	},
	"Of": func(k *taker) (func(), error) {
		k.stats, k.other = k.of.Stats, func(d time.Duration) (func(), error) { return stopOf(k.of.Set(1, d)) }
		return k.other(time.Second)
	},
	"Keyed": func(k *taker) (func(), error) {
		k.onKeyed()
		return k.other(time.Second)
	},
	"Keyed, key unequal to itself": func(k *taker) (func(), error) {
		k.onKeyed()
		return func() { k.m.Add(time.Second) }, k.keyed.Set(math.NaN(), 1, time.Second) // nothing else ends it
	},
}

// fill sets others for an hour until the wheel is full.
func (k *taker) fill() (stops []func()) {
	for {
		stop, err := k.other(time.Hour)
		if err != nil {
			require.ErrorIs(k.t, err, hierarchy.ErrFull)
			return stops
		}
		stops = append(stops, stop)
	}
}

// requireFree requires that so many places are free.
func (k *taker) requireFree(want int, when string) {
	k.t.Helper()
	stops := k.fill()
	require.Len(k.t, stops, want, when)
	for _, stop := range stops {
		stop()
	}
}

// What is pending has one place until it fires or is stopped, and some kinds until they are stopped.
func TestPlaces(t *testing.T) {
	for kind, set := range takers {
		t.Run(kind, func(t *testing.T) {
			k := newTaker(t)
			for range 2 {
				stop, err := set(k)
				require.NoError(t, err)
				k.requireFree(maxPending-1, "set")
				stop()
				k.requireFree(maxPending, "stopped")
				stop()
				k.requireFree(maxPending, "stopped again")
			}
			stop, err := set(k)
			require.NoError(t, err)
			k.m.Add(time.Second)
			if k.keeps {
				k.requireFree(maxPending-1, "fired")
				stop()
			}
			k.requireFree(maxPending, "fired")
		})
	}
}

// A full wheel refuses whatever is new, which takes no place then. What Reset sets again takes one beyond the limit.
func TestFullWheel(t *testing.T) {
	for kind, set := range takers {
		t.Run(kind, func(t *testing.T) {
			k := newTaker(t)
			stop, err := set(k)
			require.NoError(t, err)
			stop()
			others := k.fill()
			require.Len(t, others, maxPending)
			for range 2 * maxPending {
				if k.reset != nil {
					k.reset(time.Second)
					k.reset(time.Minute) // it has its place
					require.Equal(t, maxPending+1, k.stats().Pending)
					others[0]()
					k.requireFree(0, "one beyond the limit")
					stop()
					others = append(others[1:], k.fill()...)
					require.Len(t, others, maxPending)
				}
				if kind == "FuncTimer" {
					continue // it has only a Reset
				}
				scheduled := k.stats().Scheduled
				_, err := set(k)
				require.ErrorIs(t, err, hierarchy.ErrFull)
				require.Equal(t, scheduled, k.stats().Scheduled)
			}
			for _, stop := range others {
				stop()
			}
			k.requireFree(maxPending, "nothing is pending")
		})
	}
}
