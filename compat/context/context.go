package context

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// WithTimeout is [context.WithTimeout] on the wheel of the process. Call cancel as soon as the
// context is no longer needed.
func WithTimeout(parent Context, timeout time.Duration) (Context, CancelFunc) {
	return WithTimeoutCause(parent, timeout, nil)
}

// WithTimeoutCause is WithTimeout, and also sets the cause of the context when the timeout has passed. cancel does not
// set the cause.
func WithTimeoutCause(parent Context, timeout time.Duration, cause error) (Context, CancelFunc) {
	if process.InBubble() {
		return context.WithTimeoutCause(parent, timeout, cause)
	}
	requireParent(parent)
	return process.Get().WithTimeoutCause(parent, timeout, cause)
}

// WithDeadline is [context.WithDeadline] on the wheel of the process. The delay is computed once: if the wall clock is
// set later, the deadline does not move with it. Call cancel as soon as the context is no longer needed.
func WithDeadline(parent Context, d time.Time) (Context, CancelFunc) {
	return WithDeadlineCause(parent, d, nil)
}

// WithDeadlineCause is WithDeadline, and also sets the cause of the context at the deadline. cancel does not set the
// cause.
func WithDeadlineCause(parent Context, d time.Time, cause error) (Context, CancelFunc) {
	if process.InBubble() {
		return context.WithDeadlineCause(parent, d, cause)
	}
	requireParent(parent)
	return process.Get().WithDeadlineCause(parent, d, cause)
}

// requireParent panics as package context does.
func requireParent(parent Context) {
	if parent == nil {
		panic("cannot create context from nil parent")
	}
}
