package engine

import (
	"context"
	"errors"
)

// The errors of a wheel that refuses a timer, which package hierarchy exports.
var (
	ErrClosed = errors.New("hierarchy: the wheel is stopped")
	ErrFull   = errors.New("hierarchy: the wheel is full: MaxPending timers are pending, or MaxQueued callbacks wait")
)

// RequireContext panics if ctx is nil.
func RequireContext(ctx context.Context, method string) {
	if ctx == nil {
		panic("hierarchy: " + method + " with a nil context")
	}
}

// RequireMade panics if a method is called on a zero value that needs a constructor.
func RequireMade(made bool, what string) {
	if !made {
		panic("hierarchy: method called on a zero " + what + ": use its constructor")
	}
}
