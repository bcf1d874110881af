package compat_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

func TestDrain(t *testing.T) {
	tasks := new(taskLog)
	forEachKind(t, tasks.record, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		require.NoError(t, w.Drain(func(any, any) { t.Error("no timer is pending") }))
		require.NoError(t, w.SetTimer("soon", 1, interval))
		require.NoError(t, w.SetTimer("late", 2, 100*interval))
		require.NoError(t, w.SetTimer("moved", 3, interval))
		require.NoError(t, w.MoveTimer("moved", 50*interval))
		require.NoError(t, w.SetTimer("removed", 4, interval))
		require.NoError(t, w.RemoveTimer("removed"))
		drained := new(taskLog)
		require.NoError(t, w.Drain(drained.record))
		require.NoError(t, w.MoveTimer("soon", interval), "its timer was drained")
		settle()
		require.Equal(t, []string{"late=2@", "moved=3@", "soon=1@"}, drained.take())
		advance()
		require.Empty(t, tasks.take())

		require.NoError(t, w.SetTimer("soon", 5, interval)) // the key can be used again
		advance()
		require.Equal(t, []string{"soon=5@"}, tasks.take())
		require.NoError(t, w.Drain(drained.record))
		settle()
		require.Empty(t, drained.take())
	})
}

// Drain returns at once. Its function is called by eight goroutines, the earliest timers
// first, and the wheel can be used meanwhile.
func TestDrainBlocksNothing(t *testing.T) {
	tasks := new(taskLog)
	forEachKindOffMock(t, tasks.record, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		for key := range 20 {
			require.NoError(t, w.SetTimer(key, nil, time.Duration(40-key)*interval))
		}
		var mu sync.Mutex
		var keys []int
		open := make(chan struct{})
		require.NoError(t, w.Drain(func(key, _ any) {
			mu.Lock()
			keys = append(keys, key.(int))
			mu.Unlock()
			<-open
		}))
		settle()
		slices.Sort(keys)
		require.Equal(t, []int{12, 13, 14, 15, 16, 17, 18, 19}, keys)
		require.NoError(t, w.SetTimer("a", 1, interval))
		drained := new(taskLog)
		require.NoError(t, w.SetTimer("b", 2, 5*interval))
		require.NoError(t, w.Drain(drained.record), "another one")
		settle()
		require.Equal(t, []string{"a=1@", "b=2@"}, drained.take())
		require.NoError(t, w.SetTimer("a", 3, interval))
		advance()
		require.Equal(t, []string{"a=3@"}, tasks.take())
		w.Stop() // the function is still called for all drained timers
		close(open)
		settle()
		require.Len(t, keys, 20)
	})
}

func TestDrainFunctionUsesTheWheel(t *testing.T) {
	tasks := new(taskLog)
	forEachKind(t, tasks.record, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		for key := range 20 {
			require.NoError(t, w.SetTimer(key, "before", time.Hour))
		}
		require.NoError(t, w.Drain(func(key, _ any) {
			err := errors.Join(w.SetTimer(key, "again", time.Hour), w.MoveTimer(key, interval))
			if key.(int) > 0 {
				err = errors.Join(err, w.RemoveTimer(key))
			}
			if err = errors.Join(err, w.MoveTimer("none", 1), w.RemoveTimer("none")); err != nil {
				t.Error(err)
			}
		}))
		settle()
		advance()
		require.Equal(t, []string{"0=again@"}, tasks.take())
	})
}

func TestDrainFunctionPanics(t *testing.T) {
	l := captureLogs(t)
	forEachKind(t, func(any, any) {}, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		survived := new(atomic.Int32)
		for key := range 20 {
			require.NoError(t, w.SetTimer(key, func() { survived.Add(1) }, interval))
		}
		require.NoError(t, w.SetTimer("bad", "boom", interval))
		require.NoError(t, w.Drain(explode))
		settle()
		require.EqualValues(t, 20, survived.Load())
		requirePanicLogged(t, l, "boom", "explode")

		for key := range 20 { // more than Drain has goroutines
			require.NoError(t, w.SetTimer(key, nil, interval))
		}
		var wg sync.WaitGroup
		wg.Go(func() { // on a mock, Goexit ends this goroutine
			_ = w.Drain(func(any, any) { survived.Add(1); runtime.Goexit() })
		})
		wg.Wait()
		settle()
		require.EqualValues(t, 40, survived.Load())
	})
}

// When the function is called for a timer, it has returned for all timers that were due
// earlier, except for at most seven.
func TestOrderOfDrain(t *testing.T) {
	const n, most = 200, 7
	forEachKindOffMock(t, func(any, any) {}, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		for key := range n {
			require.NoError(t, w.SetTimer(key, nil, time.Duration(1+key)*time.Hour))
		}
		var returned [n]atomic.Bool
		var calls atomic.Int32
		require.NoError(t, w.Drain(func(key, _ any) {
			running := 0
			for before := range key.(int) {
				if !returned[before].Load() {
					running++
				}
			}
			if running > most {
				t.Errorf("%d: %d before it have not returned", key, running)
			}
			runtime.Gosched()
			returned[key.(int)].Store(true)
			calls.Add(1)
		}))
		settle()
		require.EqualValues(t, n, calls.Load())
	})
}

// A Stop concurrent with a Drain takes effect before or after it: it drops all timers or
// none.
func TestDrainBesideStop(t *testing.T) {
	const n = 100 // enough to be on many shards
	for range 2000 {
		w, err := compat.NewTimingWheel(interval, 10, func(any, any) {})
		require.NoError(t, err)
		for key := range n {
			require.NoError(t, w.SetTimer(key, nil, time.Hour))
		}
		var calls atomic.Int32
		var drained error
		var wg sync.WaitGroup
		wg.Go(w.Stop)
		wg.Go(func() { drained = w.Drain(func(any, any) { calls.Add(1) }) })
		wg.Wait()
		require.NoError(t, w.Shutdown(t.Context()))
		want := int32(n)
		if drained != nil {
			require.Equal(t, compat.ErrClosed, drained)
			want = 0
		}
		require.Equal(t, want, calls.Load())
	}
}
