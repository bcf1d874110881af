// Package wheelclock has the code that the adapters share: the functions of package time on a wheel, for interfaces
// that cannot return an error.
package wheelclock

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Clock reads the time of a wheel, and sets timers on it. If the wheel is full, the timers take places beyond
// MaxPending. If the wheel is stopped, the timers never fire, and Sleep returns at once.
type Clock struct {
	wheel *hierarchy.Wheel
	name  string // name of the adapter, for panics
}

// New makes a Clock for the adapter called name.
func New(w *hierarchy.Wheel, name string) Clock {
	if w == nil {
		panic(name + ": New of a nil wheel")
	}
	return Clock{w, name}
}

// Now returns the wall time of the wheel's clock.
func (c Clock) Now() time.Time { return c.wheel.Now() }

// Since returns the time that has passed since t.
func (c Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until returns the time from now to t.
func (c Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Sleep returns after d, at once if d <= 0, and as soon as the wheel is stopped. If the wheel
// is full when Sleep is called, Sleep does not notice that the wheel is stopped later.
func (c Clock) Sleep(d time.Duration) {
	if errors.Is(c.wheel.Sleep(context.Background(), d), hierarchy.ErrFull) {
		<-c.extraTimer(d).C
	}
}

// After sends the time on the returned channel after d.
func (c Clock) After(d time.Duration) <-chan time.Time {
	ch, err := c.wheel.After(d)
	switch {
	case err == nil:
		return ch
	case errors.Is(err, hierarchy.ErrFull):
		return c.extraTimer(d).C
	}
	return make(chan time.Time)
}

// Timer is a timer of a wheel. C is nil if the timer calls a function.
type Timer struct {
	C <-chan time.Time
	setter
}

// setter has the methods that all timers of a wheel have. See (*time.Timer).Stop and Reset.
type setter interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// never is a timer of a wheel that was stopped before the timer was made.
type never struct{}

func (never) Stop() bool               { return false }
func (never) Reset(time.Duration) bool { return false }

// NewTimer makes a timer that sends the time on C after d.
func (c Clock) NewTimer(d time.Duration) Timer {
	t, err := c.wheel.NewTimer(d)
	switch {
	case err == nil:
		return Timer{t.C, t}
	case errors.Is(err, hierarchy.ErrFull):
		return c.extraTimer(d)
	}
	return Timer{make(chan time.Time), never{}}
}

// AfterFunc makes a timer whose function f is called by the wheel's executor after d. It panics if f is nil.
func (c Clock) AfterFunc(d time.Duration, f func()) Timer {
	t, err := c.wheel.NewFunc(f)
	switch {
	case err == nil:
		t.Reset(d)
		return Timer{nil, t}
	case errors.Is(err, hierarchy.ErrNilFunc):
		panic(c.name + ": AfterFunc of a nil function")
	}
	return Timer{nil, never{}}
}
