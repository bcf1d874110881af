package executor

import "sync/atomic"

// Wheel is what tasks need from their wheel.
type Wheel[T any] interface {
	Call(v T) // calls the callback of v

	Start()      // a task starts that was queued
	Finish()     // a task has ended that had started
	End(n int64) // n tasks have ended, while one that starts in their place counts as running
	Waits() Waits
}

// Waits counts how long tasks have waited in a Pool. It is for a goroutine that starts several tasks.
type Waits interface {
	Began(since int64) // a task begins that has waited since then, in the clock's elapsed time
}

// tasks are callbacks that fell due together, and are counted as queued. Go and Pool get many
// at once, which is cheaper than one at a time. Each is taken by one goroutine, which calls it.
type tasks[T any] struct {
	wheel  Wheel[T]
	values []T
	// state has two halves. The low half is how many tasks were taken. The high half is how many tasks takeNext has
	// ended since takeEnded was last called.
	state atomic.Uint64
}

const (
	// allTaken is what take and takeNext return when no task is left.
	allTaken = -1

	oneEnded  = 1 << 32
	takenMask = oneEnded - 1
)

// take takes a task, and returns its index.
func (t *tasks[T]) take() int { return t.takeAnd(0) }

// takeNext ends the task that the caller took before, and takes another. If none is left, it does nothing.
func (t *tasks[T]) takeNext() int { return t.takeAnd(oneEnded) }

func (t *tasks[T]) takeAnd(change uint64) int {
	for {
		s := t.state.Load()
		i := int(s & takenMask)
		if i == len(t.values) {
			return allTaken
		}
		if t.state.CompareAndSwap(s, s+1+change) {
			return i
		}
	}
}

// takeEnded returns how many tasks takeNext has ended since takeEnded was last called.
func (t *tasks[T]) takeEnded() int64 {
	return int64(t.state.And(takenMask) >> 32)
}

// left returns how many tasks were not taken.
func (t *tasks[T]) left() int { return len(t.values) - int(t.state.Load()&takenMask) }

// call calls task i, which the caller has taken. Then its value can be collected, although other tasks have not ended.
func (t *tasks[T]) call(i int) {
	v := t.values[i]
	var none T
	t.values[i] = none
	t.wheel.Call(v)
}
