package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Config is what the decisions of an owner depend on. All fields are needed unless their comments say otherwise.
type Config struct {
	Partition   int
	MaxPending  int // 0: no limit
	MaxAttempts int // 0: no limit
	Backoff     func(attempt int) time.Duration
	Withdraws   bool          // Apply sets Withdrawn: the timers that were held when they were set, moved or removed
	KeepDead    time.Duration // how long dead timers are kept; 0: for ever
	// Remember is the time for which an idle caller with Requests is remembered, default state.Remember. All owners of
	// a log must use the same time.
	Remember time.Duration
	// TrimAbove is the number of bytes that the log may have in addition to what Owner.excess allows for live data,
	// default 2 MiB.
	TrimAbove int64
}

// isLast reports whether a timer is dead when the attempt with that number fails.
func (cfg *Config) isLast(attempt uint32) bool {
	return cfg.MaxAttempts > 0 && int64(attempt) >= int64(cfg.MaxAttempts)
}

// Firing is what a handler is called with.
type Firing struct {
	Partition  int
	Key, Value string
	Due        int64
	Attempt    uint32
	ID         frame.ID
	Epoch      uint64
	Schedule   string // the text of the timer's schedule, or ""
	Missed     uint32 // the number of missed runs of the schedule that this run makes up for
	Trace      string // the trace context of the call that has set the timer, or ""
}

const (
	// MaxSchedule and MaxTrace are the largest numbers of bytes of a schedule's text and of a trace context.
	MaxSchedule = 1 << 10
	MaxTrace    = 64
	// MaxOps is the largest number of operations of a call. It is also the largest number of operations of a frame, not
	// counting those that trimming adds.
	MaxOps = 2000
	// FrameBytes is the size at which a frame of more than one call is full.
	FrameBytes = 1 << 20
	// opBytes is an upper bound for what an operation takes in a frame apart from its key and value.
	opBytes = 64
)

// Firing returns the argument with which the handler of an attempt of the timer is called.
func (o *Owner) Firing(t *state.Timer, attempt uint32) Firing {
	return Firing{
		Partition: o.Partition,
		Key:       t.Key, Value: t.Value, Due: t.Due, Attempt: attempt, ID: t.ID, Epoch: o.Epoch,
		Schedule: t.Schedule, Missed: t.Missed, Trace: t.Trace,
	}
}

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
