//go:build unix

package hierarchy_test

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

// These are the least that some benchmarks can cost on a machine, whatever the timers are made
// of.

// spinCrowd sets timers for one goroutine that does nothing else than spin until the next of them
// is due, and call it. The crowd, which is what is set more than a second ahead, is sorted when
// the first short timer is set. One short timer at a time is pending beside it. All but the first
// are set in a callback.
func spinCrowd(*testing.B) afterFunc {
	var mu sync.Mutex
	var crowd []func()
	var order []uint64
	var short func() // nil if none is pending
	var shortAt time.Duration
	spinning := false
	next := func(crowd []func(), order *[]uint64) (f func(), at time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if first := firstOf(*order); short == nil || first < shortAt {
			if spinning = len(*order) > 0; !spinning {
				return nil, 0
			}
			f, at = crowd[(*order)[0]&(1<<indexBits-1)], first
			*order = (*order)[1:]
			return f, at
		}
		f, short = short, nil
		return f, shortAt
	}
	spin := func(crowd []func(), order []uint64) {
		slices.Sort(order)
		for {
			f, at := next(crowd, &order)
			if f == nil {
				return
			}
			for time.Since(floorStart) < at {
			}
			f()
		}
	}
	return func(d time.Duration, f func()) func() bool {
		mu.Lock()
		defer mu.Unlock()
		at := time.Since(floorStart) + d
		if d > time.Second {
			order = append(order, packed(at, len(crowd)))
			crowd = append(crowd, f)
			return nil
		}
		if short, shortAt = f, at; !spinning {
			spinning = true
			go spin(crowd, order)
			crowd, order = nil, nil
		}
		return nil
	}
}

var floorStart = time.Now()

const indexBits = 20

// packed is a time and an index in one number, which sorts by time.
func packed(at time.Duration, i int) uint64 { return uint64(at)<<indexBits | uint64(i) }

// firstOf is the time of the first packed one.
func firstOf(order []uint64) time.Duration {
	if len(order) == 0 {
		return math.MaxInt64
	}
	return time.Duration(order[0] >> indexBits)
}

// resetFloor has timers in an array. To reset one costs a reading of the clock, a pair of Lock and
// Unlock, and a write to its memory. When all were reset, they are sorted by deadline, and called
// without waiting.
type resetFloor struct {
	mu     sync.Mutex
	timers []floorTimer
	resets int
}

type floorTimer struct {
	at time.Duration
	f  func()
	_  [3]uint64 // up to the size of a node of a wheel
}

func (w *resetFloor) reset(i int, d time.Duration) {
	at := time.Since(floorStart) + d
	w.mu.Lock()
	w.timers[i].at = at
	w.resets++
	w.mu.Unlock()
	if w.resets == len(w.timers) {
		go w.fire()
	}
}

func (w *resetFloor) fire() {
	order := make([]uint64, len(w.timers))
	for i := range w.timers {
		order[i] = packed(w.timers[i].at, i)
	}
	slices.Sort(order)
	for _, e := range order {
		w.timers[e&(1<<indexBits-1)].f()
	}
}
