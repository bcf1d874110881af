package compat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// reference is the simplest correct wheel with a ticker.
type reference struct {
	now    int
	timers map[int]pending
	ran    []string
}

type pending struct {
	value int
	due   time.Duration
}

func (r *reference) after(d time.Duration) time.Duration { return time.Duration(r.now)*interval + d }

func (r *reference) run(key int) {
	r.ran = append(r.ran, fmt.Sprintf("%d=%d@%d", key, r.timers[key].value, r.now))
	delete(r.timers, key)
}

func (r *reference) set(key, value int, d time.Duration) {
	r.timers[key] = pending{value, r.after(d)}
}

func (r *reference) move(key int, d time.Duration) {
	timer, ok := r.timers[key]
	switch {
	case ok && d < interval:
		r.run(key)
	case ok:
		r.timers[key] = pending{timer.value, r.after(d)}
	}
}

func (r *reference) tick() {
	r.now++
	for key, timer := range r.timers {
		if timer.due <= r.after(0) {
			r.run(key)
		}
	}
}

func (r *reference) drain() {
	for key := range r.timers {
		r.run(key)
	}
}

func (r *reference) take() []string {
	ran := r.ran
	r.ran = nil
	slices.Sort(ran)
	return ran
}

// runRandomly makes the same random calls to a wheel and to the reference. It compares them
// at the end, when all goroutines are blocked. If each is true, it also does that after each
// call.
func runRandomly(t *testing.T, seed uint64, each bool) {
	random := rand.New(rand.NewPCG(seed, 7))
	ref := &reference{timers: make(map[int]pending)}
	ticker, tasks := newFakeTicker(), new(taskLog)
	w := newTickerWheel(t, 1+random.IntN(20), tasks.record, ticker)
	defer w.Stop()
	tasks.at(0)
	for n := range 300 {
		key, d := random.IntN(15), time.Duration(1+random.Int64N(int64(interval<<random.IntN(7))))
		if random.IntN(2) == 0 {
			d = d.Truncate(interval) + interval
		}
		switch op := random.IntN(20); {
		case op < 6:
			ref.set(key, n, d)
			require.NoError(t, w.SetTimer(key, n, d))
		case op < 10:
			ref.move(key, d)
			require.NoError(t, w.MoveTimer(key, d))
		case op < 12:
			delete(ref.timers, key)
			require.NoError(t, w.RemoveTimer(key))
		case op == 12 && random.IntN(8) == 0:
			ref.drain()
			require.NoError(t, w.Drain(tasks.record))
		default:
			settle() // so that tasks are recorded with the tick at which they ran
			tasks.at(ref.now + 1)
			ref.tick()
			ticker.tick()
		}
		if each {
			settle()
			require.Equal(t, ref.take(), tasks.take(), "seed %d, step %d", seed, n)
		}
	}
	settle()
	require.Equal(t, ref.take(), tasks.take(), "seed %d", seed)
}

func TestTickerAgainstReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(60) {
			runRandomly(t, seed, true)
			runRandomly(t, seed, false)
		}
	})
}
