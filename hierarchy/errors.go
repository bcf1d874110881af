package hierarchy

import "errors"

// What a wheel answers when it can't schedule. Nothing is lost silently: where
// one of these is returned, nothing was set. They may come wrapped: ask errors.Is.
var (
	ErrClosed   = errors.New("hierarchy: the wheel is stopped")
	ErrFull     = errors.New("hierarchy: as many timers are pending as MaxPending allows")
	ErrNilFunc  = errors.New("hierarchy: the function is nil")
	ErrArgument = errors.New("hierarchy: bad argument")
)

// requireMade panics if what a method is called on was not made by its constructor.
func requireMade(made bool, what string) {
	if !made {
		panic("hierarchy: this " + what + " was not made by the function that makes one")
	}
}
