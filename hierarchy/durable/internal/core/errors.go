package core

import (
	"errors"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// The errors of calls. Calls return them wrapped. The first three wrap those of package hierarchy, with texts that
// begin with the name of this module.
var (
	ErrClosed   error = &alias{"durable: the timers are closed", hierarchy.ErrClosed}
	ErrFull     error = &alias{"durable: the partition is full: MaxPending timers are pending", hierarchy.ErrFull}
	ErrArgument error = &alias{"durable: bad argument", hierarchy.ErrArgument}
	ErrTooLarge       = errors.New("durable: too large")
	// ErrSchedule is for a schedule that has no run, or that the owner can't parse, for example because the owner does
	// not know the time zone.
	ErrSchedule = fmt.Errorf("%w: the owner of the partition can't read the schedule, or it has no run", ErrArgument)
)

// alias is an error of another package with another text.
type alias struct {
	text string
	of   error
}

func (a *alias) Error() string { return a.text }
func (a *alias) Unwrap() error { return a.of }
