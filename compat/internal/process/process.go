// Package process has the one wheel of the process. Packages compat/time and compat/context set their timers on it.
package process

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Process is the wheel.
type Process struct{ *hierarchy.Wheel }

var (
	made   atomic.Pointer[Process]
	making sync.Mutex
)

// Get returns the wheel. The first call makes it, with the default Config, and must not be
// in a bubble. Nobody ever stops it.
func Get() *Process {
	if p := made.Load(); p != nil {
		return p
	}
	return first()
}

func first() *Process {
	making.Lock()
	defer making.Unlock()
	if p := made.Load(); p != nil {
		return p
	}
	p := New(clock.Precise())
	made.Store(p)
	return p
}

// New makes a wheel on a clock, for tests.
func New(c clock.Clock) *Process {
	w, err := hierarchy.New(hierarchy.Config{Clock: c})
	if err != nil {
		panic(err) // no field is bad
	}
	return &Process{w}
}

// Use replaces the wheel until undo is called, for tests.
func Use(p *Process) (undo func()) {
	old := made.Swap(p)
	return func() { made.Store(old) }
}

// bubbles reports whether there can be bubbles: testing/synctest makes one only in a test. testing.Testing
// is right even while packages are initialized.
var bubbles = testing.Testing()

// InBubble reports whether the caller runs in a testing/synctest bubble. In a program that is
// not a test it costs nothing.
//
// In a bubble, and only there, package time reads no monotonic clock. Other signs do not
// suffice: a bubble may have slept until the present, or may do so in a moment.
func InBubble() bool { return bubbles && !monotonic(time.Now()) }

// monotonic reports whether t has a reading of the monotonic clock, which Round strips.
func monotonic(t time.Time) bool { return t != t.Round(0) }

// AssumeNoBubbles makes InBubble as cheap as it is in a program until undo is called. It is
// for benchmarks, which are tests.
func AssumeNoBubbles() (undo func()) {
	old := bubbles
	bubbles = false
	return func() { bubbles = old }
}

// Made reports whether there is a wheel, or one can be made here.
func Made() bool { return made.Load() != nil || !InBubble() }
