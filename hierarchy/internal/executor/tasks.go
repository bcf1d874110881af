package executor

import "sync/atomic"

// Wheel is what tasks need from their wheel.
type Wheel[T any] interface {
	Call(v T) // calls the callback of v

	Start()      // a queued task starts
	Finish()     // a started task has ended
	End(n int64) // n tasks have ended; the number of running tasks stays the same
	Waits() Waits
}

// Waits counts how long tasks have waited in a Pool. It is for a goroutine that starts several tasks.
type Waits interface {
	Began(since int64) // a task begins that has waited since that elapsed time of the clock
}

// tasks are callbacks that fell due together, and are counted as queued. Go and Pool get many at once, which is cheaper
// than one at a time. Each task is taken by one goroutine, which calls it.
type tasks[T any] struct {
	wheel  Wheel[T]
	values []T
	// state has two halves. The low half is the number of tasks that were taken. The high half is the number of tasks
	// that takeNext has ended since takeEnded was last called.
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

// takeNext ends the task that the caller took before, and takes another task. If no task is left, takeNext does
// nothing.
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

// left returns the number of tasks that were not taken.
func (t *tasks[T]) left() int { return len(t.values) - int(t.state.Load()&takenMask) }

// call calls task i, which the caller has taken. It drops the value of the task first, so that the value can be
// collected although other tasks have not ended.
func (t *tasks[T]) call(i int) {
	v := t.values[i]
	var none T
	t.values[i] = none
	t.wheel.Call(v)
}
