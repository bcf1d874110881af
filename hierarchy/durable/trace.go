package durable

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// MaxTrace is the largest number of bytes of a trace context that is stored with a timer.
const MaxTrace = core.MaxTrace

// Tracer links the attempts of a timer to the call that set it, for tracing. It must be safe for concurrent use.
// Its methods are called by the goroutines of callers and handlers, and should not block.
type Tracer interface {
	// Inject returns the trace context of a call that sets a timer, from the context of the call. The trace context is
	// stored with the value of the timer, and replaced when the value is replaced. If it is empty, or longer than
	// MaxTrace, the timer has no trace context.
	Inject(ctx context.Context) []byte
	// Start is called before each attempt, with the context of the attempt and the trace context of the call that set
	// the timer, or nil. It returns the context for Handle, which must be derived from ctx, and a function that is
	// called with the result of the attempt: nil, or the error with which it failed.
	Start(ctx context.Context, trace []byte, a TracedAttempt) (context.Context, func(error))
}

// TracedAttempt describes an attempt to a Tracer.
type TracedAttempt struct {
	Name      string // Config.Name
	Partition int
	Key       []byte // as Config.Key encodes it
	Due       time.Time
	Attempt   int // the number of the attempt, from 1
	ID        ID
	Epoch     uint64
	Schedule  string // the text of the timer's Schedule, or "" if the timer has none
	Missed    int    // the number of other runs of the Schedule that this run makes up for
}

// inject returns the trace context to store with a timer.
func (cfg *Config[K, V]) inject(ctx context.Context) []byte {
	if cfg.Trace == nil {
		return nil
	}
	trace := cfg.Trace.Inject(ctx)
	if len(trace) == 0 || len(trace) > MaxTrace {
		return nil
	}
	return slices.Clone(trace)
}

// errNoReturn is the result of an attempt whose handler panicked, or has exited its goroutine.
var errNoReturn = errors.New("the handler did not return")

// traced calls handle for an attempt, with the context that Trace.Start returns.
func (w *Keyed[K, V]) traced(ctx context.Context, f *core.Firing, handle func(context.Context) error) error {
	if w.cfg.Trace == nil {
		return handle(ctx)
	}
	ctx, end := w.cfg.Trace.Start(ctx, []byte(f.Trace), TracedAttempt{
		Name: w.cfg.Name, Partition: f.Partition, Key: []byte(f.Key), Due: timeOf(f.Due),
		Attempt: int(f.Attempt), ID: ID{f.ID}, Epoch: f.Epoch, Schedule: f.Schedule, Missed: int(f.Missed),
	})
	err := errNoReturn
	defer func() { end(err) }()
	err = handle(ctx)
	return err
}
