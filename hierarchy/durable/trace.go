package durable

import (
	"context"
	"time"
)

// MaxTrace is how many bytes of trace context are stored beside the value of a timer.
const MaxTrace = 64

// Tracer links the attempts of a timer to the call that set it, for tracing. It must be safe for concurrent use.
// Its methods are called by the goroutines of callers and handlers, and should not block.
type Tracer interface {
	// Inject returns the trace context of a call that sets a timer, from the context of the call. It is stored
	// beside the value, and replaced with it. If it is empty, or longer than MaxTrace, the timer has none.
	Inject(ctx context.Context) []byte
	// Start is called before each attempt, with the context of the attempt and the trace context of the call that
	// set the timer, or nil. It returns the context for Handle, which must be derived from ctx, and a function
	// that is called with the result of the attempt: nil, or why it failed.
	Start(ctx context.Context, trace []byte, a TracedAttempt) (context.Context, func(error))
}

// TracedAttempt describes an attempt to a Tracer.
type TracedAttempt struct {
	Name      string // Config.Name
	Partition int
	Key       []byte // as Config.Key encodes it
	Due       time.Time
	Attempt   int // from 1
	ID        ID
	Epoch     uint64
	Schedule  string // its text, or "" if the timer has none
	Missed    int    // the runs of the Schedule that this one stands for beside its own
}
