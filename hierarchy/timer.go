package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Timer is a handle of a timer that was set. It is a value, safe to copy, to compare and to keep for ever. It does not
// keep the callback alive. Once the timer has fired or was stopped, its Timer is inactive for good, even after the
// memory has been reused. The zero Timer is inactive. All methods may be called concurrently, also inside callbacks.
// Each costs a lock and no allocation.
type Timer struct{ handle engine.Handle }

// Stop stops the timer, and reports whether it was pending. If it was not, its callback was dispatched, or it was
// stopped, drained or dropped before. Stop does not wait for a running callback.
func (t Timer) Stop() bool {
	return t.handle.Stop()
}

// Reset makes the timer due after d, or at once if d <= 0, and reports whether it was pending. If it was not, Reset
// changes nothing. With d <= 0 and the executors Go and Pool, unless the clock is a mock, the callback is dispatched
// before Reset returns.
func (t Timer) Reset(d time.Duration) bool {
	return t.handle.Reset(d)
}

// Active reports whether the timer is pending.
func (t Timer) Active() bool {
	return t.handle.Active()
}

// Remaining returns the time until the deadline, or 0 if the timer is due. It reports false if the timer is not
// pending.
func (t Timer) Remaining() (time.Duration, bool) { return t.handle.Remaining() }
