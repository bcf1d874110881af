package compat

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// The errors of a TimingWheel.
var (
	ErrClosed   = errors.New("TimingWheel is closed already")
	ErrArgument = errors.New("incorrect task argument")
)

// maxTasks is the most tasks of a wheel that may run at once. Further tasks wait in a queue; the wheel and its callers
// do not wait for them.
const maxTasks = 4096

// Execute runs the task of a key. If it panics, the panic is recovered and logged to
// slog.Default().
type Execute func(key, value any)

// TimingWheel runs a task for each key after a delay. All methods may be called
// concurrently, also inside tasks.
type TimingWheel struct {
	wheel  *hierarchy.Keyed[any, any]
	ticks  *tickClock // nil if the wheel has no ticker
	inline bool       // whether the clock is a mock, so that tasks run in the goroutine that moves it
	closed atomic.Bool
	drains drains
}

// NewTimingWheel makes a wheel that runs in real time. Each deadline is kept exactly, even if the delay is below
// interval or not a multiple of it. Tasks run in their own goroutines, at most 4,096 at once. numSlots is checked but
// not used, because the circles of a hierarchical wheel always have 64 slots. The error is not nil if interval or
// numSlots is not positive, or if execute is nil.
func NewTimingWheel(interval time.Duration, numSlots int, execute Execute) (*TimingWheel, error) {
	return NewTimingWheelWithClock(interval, numSlots, execute, clock.Precise())
}

// NewTimingWheelWithClock is like NewTimingWheel, on clock c. On a *clock.Mock there are
// no goroutines: tasks run one after the other inside the call that moves the clock, and
// Drain calls its function itself. The error is also not nil if c is nil.
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
	tw := &TimingWheel{inline: clock.IsMock(c), drains: newDrains()}
	cfg := hierarchy.Config{Interval: interval, Clock: c, OnPanic: logPanic}
	if !tw.inline {
		cfg.Executor = hierarchy.Pool(maxTasks)
	}
	var err error
	tw.wheel, err = hierarchy.NewKeyed(cfg, func(key, value any) {
		if !tw.closed.Load() { // the wheel may have been stopped while the task was queued
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

// SetTimer sets a timer that runs the task of key with value after delay. If key already
// has a timer, its value and delay are replaced. On a wheel with a ticker, the task runs
// at the first tick at or after its deadline, so a delay below the interval means the
// next tick. The error is ErrArgument if key is nil or can't be compared, or if delay is
// not positive, and ErrClosed if the wheel is stopped.
func (tw *TimingWheel) SetTimer(key, value any, delay time.Duration) error {
	if delay <= 0 || !validKey(key) {
		return ErrArgument
	}
	if tw.isClosed() {
		return ErrClosed
	}
	return translate(tw.wheel.Set(key, value, delay))
}

// MoveTimer makes the timer of key fire after delay, counted from now. It does nothing if key has no timer. On a wheel
// with a ticker, a delay below the interval runs the task at once, in its own goroutine. MoveTimer returns the same
// errors as SetTimer.
func (tw *TimingWheel) MoveTimer(key any, delay time.Duration) error {
	if delay <= 0 || !validKey(key) {
		return ErrArgument
	}
	if tw.isClosed() {
		return ErrClosed
	}
	if tw.ticks != nil && delay < tw.ticks.interval {
		delay = 0
	}
	_, err := tw.wheel.Move(key, delay)
	return translate(err)
}

// RemoveTimer removes the timer of key, so its task does not run. It does nothing if key
// has no timer. The error is ErrArgument if key is nil or can't be compared, and
// ErrClosed if the wheel is stopped.
func (tw *TimingWheel) RemoveTimer(key any) error {
	if !validKey(key) {
		return ErrArgument
	}
	if tw.isClosed() {
		return ErrClosed
	}
	tw.wheel.Remove(key)
	return nil
}

// isClosed reports whether the wheel is stopped. On a wheel with a ticker, it first waits
// until all ticks received before the call are counted.
func (tw *TimingWheel) isClosed() bool {
	requireMade(tw.wheel != nil, "TimingWheel")
	if tw.ticks != nil {
		tw.ticks.await()
	}
	return tw.closed.Load()
}
