package compat

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// What a wheel answers when it can't do what it is asked.
var (
	ErrClosed   = errors.New("TimingWheel is closed already")
	ErrArgument = errors.New("incorrect task argument")
)

const (
	// mostTasks is how many tasks of a wheel run at once at most. The others wait
	// their turn, and neither the wheel nor its callers wait for any.
	mostTasks = 4096
	// drainWorkers is on how many goroutines Drain calls its function.
	drainWorkers = 8
)

// Execute runs the task of a key. A panic is recovered and logged by package
// log/slog.
type Execute func(key, value any)

// TimingWheel schedules tasks by key. All methods may be called concurrently,
// also inside tasks.
type TimingWheel struct {
	wheel  *hierarchy.Keyed[any, any]
	ticks  *tickClock // nil if the wheel has no ticker
	closed atomic.Bool
}

// NewTimingWheel makes a wheel in real time. A deadline is kept as it was asked
// for, above and below interval. numSlots is checked and has no other meaning: the
// circles of a hierarchical wheel have as many slots as they need. The error is
// that of an interval or numSlots that is not positive, or of a nil execute.
func NewTimingWheel(interval time.Duration, numSlots int, execute Execute) (*TimingWheel, error) {
	return NewTimingWheelWithClock(interval, numSlots, execute, clock.Precise())
}

// NewTimingWheelWithClock is NewTimingWheel on a clock of choice. On a *clock.Mock
// tasks run one after the other, inside the call that moves it.
func NewTimingWheelWithClock(interval time.Duration, numSlots int, execute Execute, c clock.Clock) (*TimingWheel, error) {
	if err := check(interval, numSlots, execute); err != nil {
		return nil, err
	}
	if isNil(c) {
		return nil, fmt.Errorf("interval: %v, slots: %d, execute: %p, clock: %v", interval, numSlots, execute, c)
	}
	return newTimingWheel(interval, execute, c)
}

func check(interval time.Duration, numSlots int, execute Execute) error {
	if interval <= 0 || numSlots <= 0 || execute == nil {
		return fmt.Errorf("interval: %v, slots: %d, execute: %p", interval, numSlots, execute)
	}
	return nil
}

func newTimingWheel(interval time.Duration, execute Execute, c clock.Clock) (*TimingWheel, error) {
	cfg := hierarchy.Config{Interval: interval, Clock: c, OnPanic: logPanic}
	if !clock.IsMock(c) {
		cfg.Executor = hierarchy.Pool(mostTasks)
	}
	tw := new(TimingWheel)
	var err error
	tw.wheel, err = hierarchy.NewKeyed(cfg, func(key, value any) {
		if !tw.closed.Load() { // it may have waited its turn meanwhile
			execute(key, value)
		}
	})
	if err != nil {
		return nil, err
	}
	return tw, nil
}

func logPanic(recovered any, stack []byte) {
	slog.Error("timing wheel: a task panicked", "panic", recovered, "stack", string(stack))
}

// SetTimer has the task of key run with value after delay. If key has a timer,
// that gets the new value and delay. On a wheel with a ticker the task runs at the
// first tick at or after its time: below the interval, at the next. The error is
// ErrArgument for a nil key, a key that can't be compared or a delay that is not
// positive, and ErrClosed.
func (tw *TimingWheel) SetTimer(key, value any, delay time.Duration) error {
	if delay <= 0 || !fit(key) {
		return ErrArgument
	}
	if tw.over() {
		return ErrClosed
	}
	return translate(tw.wheel.Set(key, value, delay))
}

// MoveTimer has the task of key run after delay from now, if it has a timer. On a
// wheel with a ticker a delay below the interval runs it at once. The error is
// SetTimer's; that key has no timer is none.
func (tw *TimingWheel) MoveTimer(key any, delay time.Duration) error {
	if delay <= 0 || !fit(key) {
		return ErrArgument
	}
	if tw.over() {
		return ErrClosed
	}
	if tw.ticks != nil && delay < tw.ticks.interval {
		delay = 0
	}
	_, err := tw.wheel.Move(key, delay)
	return translate(err)
}

// RemoveTimer takes the timer of key back, if it has one. The error is ErrArgument
// for a nil key or one that can't be compared, and ErrClosed.
func (tw *TimingWheel) RemoveTimer(key any) error {
	if !fit(key) {
		return ErrArgument
	}
	if tw.over() {
		return ErrClosed
	}
	tw.wheel.Remove(key)
	return nil
}

// Drain takes all pending timers out at once, and returns. fn is then called with
// the key and value of each, in order of their deadlines, on up to eight
// goroutines, and may use the wheel, which goes on. The error is ErrArgument for a
// nil fn, and ErrClosed.
func (tw *TimingWheel) Drain(fn func(key, value any)) error {
	if fn == nil {
		return ErrArgument
	}
	if tw.over() {
		return ErrClosed
	}
	var tasks []task
	tw.wheel.Drain(func(key, value any) { tasks = append(tasks, task{key, value}) })
	if len(tasks) > 0 {
		go runAll(tasks, fn)
	}
	return nil
}

// Stop ends the wheel: no task begins any more, and all further calls return
// ErrClosed. It does not wait for tasks that run. Further calls do nothing.
func (tw *TimingWheel) Stop() {
	tw.closed.Store(true)
	tw.wheel.Stop()
	if tw.ticks != nil {
		tw.ticks.stop()
	}
}

// over tells whether the wheel is stopped, as of all ticks received so far.
func (tw *TimingWheel) over() bool {
	if tw.ticks != nil {
		tw.ticks.await()
	}
	return tw.closed.Load()
}

// task is what a timer was set for.
type task struct{ key, value any }

// runAll calls fn for all tasks, on up to drainWorkers goroutines.
func runAll(tasks []task, fn Execute) {
	var workers errgroup.Group
	workers.SetLimit(drainWorkers)
	for _, t := range tasks {
		workers.Go(func() error {
			defer recoverTask()
			fn(t.key, t.value)
			return nil
		})
	}
}
