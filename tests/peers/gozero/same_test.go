package gozero

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeromicro/go-zero/core/collection"
	"github.com/zeromicro/go-zero/core/timex"

	"github.com/epicycle-go/epicycle/compat"
)

var (
	_ compat.Ticker = timex.Ticker(nil)
	_ timex.Ticker  = compat.Ticker(nil)
	_               = []wheel{(*collection.TimingWheel)(nil), (*compat.TimingWheel)(nil)}
	_               = []cache{(*collection.Cache)(nil), (*compat.Cache)(nil)}
)

// TestNames requires that our types have all methods of go-zero's types, with the same
// signatures, and that the constructors have the same signatures.
func TestNames(t *testing.T) {
	for _, c := range []struct{ theirs, ours any }{
		{collection.NewTimingWheel, compat.NewTimingWheel},
		{collection.NewTimingWheelWithTicker, compat.NewTimingWheelWithTicker},
		{collection.NewCache, compat.NewCache},
		{collection.WithLimit, compat.WithLimit},
		{collection.WithName, compat.WithName},
	} {
		require.Equal(t, signature(reflect.TypeOf(c.theirs)), signature(reflect.TypeOf(c.ours)))
	}
	for _, c := range []struct{ theirs, ours reflect.Type }{
		{reflect.TypeFor[*collection.TimingWheel](), reflect.TypeFor[*compat.TimingWheel]()},
		{reflect.TypeFor[*collection.Cache](), reflect.TypeFor[*compat.Cache]()},
	} {
		for i := range c.theirs.NumMethod() {
			theirs := c.theirs.Method(i)
			ours, ok := c.ours.MethodByName(theirs.Name)
			require.True(t, ok, theirs.Name)
			require.Equal(t, signature(theirs.Type), signature(ours.Type), theirs.Name)
		}
	}
	require.EqualError(t, compat.ErrClosed, collection.ErrClosed.Error())
	require.EqualError(t, compat.ErrArgument, collection.ErrArgument.Error())
}

// signature returns the text of a type without package names.
func signature(t reflect.Type) string {
	return strings.NewReplacer("collection.", "", "compat.", "", "timex.", "").Replace(t.String())
}

// TestSameErrors tests the calls for which both wheels return the same errors.
func TestSameErrors(t *testing.T) {
	type answers struct {
		made                                  bool
		nilKey, zero, negative, move0, remove error
		unknown, closed                       [2]error
	}
	ask := func(i implementation) (v answers) {
		plain := func(err error) error {
			switch {
			case errors.Is(err, i.errKey):
				return collection.ErrArgument
			case errors.Is(err, i.errClosed):
				return collection.ErrClosed
			}
			return err
		}
		synctest.Test(t, func(t *testing.T) {
			for slots, execute := range map[int]func(_, _ any){0: func(_, _ any) {}, -1: func(_, _ any) {}, 1: nil} {
				_, err := i.wheel(slots, execute, nil)
				v.made = v.made || err == nil
			}
			r := newRig(t, i, 10)
			v.nilKey = plain(r.SetTimer(nil, nil, interval))
			v.zero = plain(r.SetTimer("key", nil, 0))
			v.negative = plain(r.SetTimer("key", nil, -1))
			v.move0 = plain(r.MoveTimer("key", 0))
			v.remove = plain(r.RemoveTimer(nil))
			v.unknown = [2]error{plain(r.MoveTimer("key", interval)), plain(r.RemoveTimer("key"))}
			r.Stop()
			synctest.Wait()
			v.closed = [2]error{plain(r.SetTimer("key", nil, interval)), plain(r.Drain(func(_, _ any) {}))}
		})
		return v
	}
	bad, closed := collection.ErrArgument, collection.ErrClosed
	want := answers{false, bad, bad, bad, bad, bad, [2]error{}, [2]error{closed, closed}}
	require.Equal(t, want, ask(goZero))
	require.Equal(t, want, ask(epicycle))
}

// TestNewKeysAndWholeIntervals sets new keys to whole multiples of the interval and
// removes some. Each task runs at the same tick and with the same value on both wheels.
func TestNewKeysAndWholeIntervals(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 10, 300} {
		for seed := range uint64(10) {
			run := func(i implementation) (ran map[any][]int, got map[any][]any) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, i, slots)
					defer r.Stop()
					r.program(rand.New(rand.NewPCG(seed, uint64(slots))))
					ran, got = r.ran, r.got
				})
				return ran, got
			}
			theirRan, theirGot := run(goZero)
			ran, got := run(epicycle)
			require.Equal(t, theirRan, ran, "%d slots, seed %d", slots, seed)
			require.Equal(t, theirGot, got, "%d slots, seed %d", slots, seed)
			require.NotEmpty(t, ran)
		}
	}
}

// program sets and removes timers of some keys at random, and then lets all fall due.
func (r *rig) program(random *rand.Rand) {
	pending := make(map[any]int) // by key: the tick at which it is due
	for step := range 500 {
		key := random.IntN(20)
		switch due, ok := pending[key]; {
		case !ok || due <= r.now:
			delay := 1 + random.IntN(3*r.slots)
			r.set(key, step, float64(delay))
			pending[key] = r.now + delay
		case random.IntN(2) == 0:
			require.NoError(r.t, r.RemoveTimer(key))
			delete(pending, key)
		}
		r.tick(random.IntN(3))
	}
	r.tick(4 * r.slots)
}

// TestValues: a timer that is set again has the new value, and a moved timer keeps its
// value, of any type.
func TestValues(t *testing.T) {
	values := map[any][]any{"set again": {"second"}, "moved": {[]int{7}}, "nil": {nil}, "at once": {"now"}}
	compare(t, 10, values, values, func(r *rig) map[any][]any {
		r.set("set again", "first", 2)
		r.set("set again", "second", 4)
		r.set("moved", []int{7}, 2)
		r.move("moved", 4)
		r.set("nil", nil, 3)
		r.set("at once", "now", 3)
		r.move("at once", 0.5)
		require.NoError(t, r.RemoveTimer("at once"))
		r.tick(40)
		return r.got
	})
}

// TestPanic: a task that panics does not affect other tasks.
func TestPanic(t *testing.T) {
	compare(t, 10, 5, 5, func(r *rig) (ran int) {
		r.do = func(key any) {
			if key == 2 {
				panic("a task's")
			}
		}
		for key := range 5 {
			r.set(key, nil, 2)
		}
		r.tick(2)
		return len(r.ran)
	})
}

// TestStopAfterDrain: the function of Drain is called for all drained timers, eight at a
// time, also if the wheel is stopped meanwhile or the function panics.
func TestStopAfterDrain(t *testing.T) {
	type calls struct{ before, after int32 }
	want := calls{8, 20}
	compare(t, 10, want, want, func(r *rig) calls {
		for key := range 20 {
			r.set(key, nil, float64(1+key))
		}
		var n atomic.Int32
		release := make(chan struct{})
		r.drain(func(key, _ any) {
			n.Add(1)
			<-release
			if key == 2 {
				panic("a drained task's")
			}
		})
		before := n.Load()
		r.Stop()
		close(release)
		synctest.Wait()
		return calls{before, n.Load()}
	})
}

// TestRealTicker passes go-zero's ticker to both wheels, in a bubble.
func TestRealTicker(t *testing.T) {
	for _, i := range []implementation{goZero, epicycle} {
		t.Run(i.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				took := make(chan time.Duration, 1)
				w, err := i.wheel(10, func(_, _ any) { took <- time.Since(start) }, timex.NewTicker(interval))
				require.NoError(t, err)
				defer w.Stop()
				require.NoError(t, w.SetTimer("key", nil, 12*interval))
				require.Equal(t, 12*interval, <-took)
			})
		})
	}
}
