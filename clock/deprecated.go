package clock

import (
	"context"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
)

// With these methods a Mock is a benbjohnson Clock itself, as it was before Benbjohnson.
var _ benbjohnson.Clock = (*Mock)(nil)

// AfterFunc is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().AfterFunc.
func (m *Mock) AfterFunc(d time.Duration, f func()) *benbjohnson.Timer {
	return m.Benbjohnson().AfterFunc(d, f)
}

// Timer is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().Timer.
func (m *Mock) Timer(d time.Duration) *benbjohnson.Timer { return m.Benbjohnson().Timer(d) }

// Ticker is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().Ticker.
func (m *Mock) Ticker(d time.Duration) *benbjohnson.Ticker { return m.Benbjohnson().Ticker(d) }

// After is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().After.
func (m *Mock) After(d time.Duration) <-chan time.Time { return m.Benbjohnson().After(d) }

// Tick is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().Tick.
func (m *Mock) Tick(d time.Duration) <-chan time.Time { return m.Benbjohnson().Tick(d) }

// Sleep is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().Sleep.
func (m *Mock) Sleep(d time.Duration) { m.Benbjohnson().Sleep(d) }

// WithDeadline is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().WithDeadline.
func (m *Mock) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return m.Benbjohnson().WithDeadline(parent, t)
}

// WithTimeout is that of Benbjohnson.
//
// Deprecated: use Benbjohnson().WithTimeout.
func (m *Mock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return m.Benbjohnson().WithTimeout(parent, d)
}
