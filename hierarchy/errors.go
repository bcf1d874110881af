package hierarchy

import (
	"context"
	"errors"
)

// The errors of a wheel that can't schedule a timer. Where one of them is returned,
// nothing was set. They may be wrapped: compare with errors.Is.
var (
	ErrClosed   = errors.New("hierarchy: the wheel is stopped")
	ErrFull     = errors.New("hierarchy: the wheel is full: MaxPending timers are pending, or MaxQueued callbacks wait")
	ErrNilFunc  = errors.New("hierarchy: the function is nil")
	ErrArgument = errors.New("hierarchy: bad argument")
)

// requireContext panics if ctx is nil.
func requireContext(ctx context.Context, method string) {
	if ctx == nil {
		panic("hierarchy: " + method + " with a nil context")
	}
}

// requireMade panics if a method is called on a zero value that needs a constructor.
func requireMade(made bool, what string) {
	if !made {
		panic("hierarchy: method called on a zero " + what + ": use its constructor")
	}
}
