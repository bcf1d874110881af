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
