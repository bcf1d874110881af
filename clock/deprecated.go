package clock

import (
	"context"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
)

// With these methods a Mock is a benbjohnson Clock itself, as it was before there was Benbjohnson.
var _ benbjohnson.Clock = (*Mock)(nil)

// AfterFunc calls AfterFunc of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().AfterFunc.
func (m *Mock) AfterFunc(d time.Duration, f func()) *benbjohnson.Timer {
	return m.Benbjohnson().AfterFunc(d, f)
}

// Timer calls Timer of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().Timer.
func (m *Mock) Timer(d time.Duration) *benbjohnson.Timer { return m.Benbjohnson().Timer(d) }

// Ticker calls Ticker of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().Ticker.
func (m *Mock) Ticker(d time.Duration) *benbjohnson.Ticker { return m.Benbjohnson().Ticker(d) }

// After calls After of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().After.
func (m *Mock) After(d time.Duration) <-chan time.Time { return m.Benbjohnson().After(d) }

// Tick calls Tick of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().Tick.
func (m *Mock) Tick(d time.Duration) <-chan time.Time { return m.Benbjohnson().Tick(d) }

// Sleep calls Sleep of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().Sleep.
func (m *Mock) Sleep(d time.Duration) { m.Benbjohnson().Sleep(d) }

// WithDeadline calls WithDeadline of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().WithDeadline.
func (m *Mock) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return m.Benbjohnson().WithDeadline(parent, t)
}

// WithTimeout calls WithTimeout of the Clock that Benbjohnson returns.
//
// Deprecated: use Benbjohnson().WithTimeout.
func (m *Mock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return m.Benbjohnson().WithTimeout(parent, d)
}
