package clock

import (
	"context"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
)

// Benbjohnson returns a github.com/benbjohnson/clock Clock that follows m, for code that takes such a Clock. The time
// of the Clock is the time of m. Its timers, tickers and contexts fire at their time, inside the calls that move m.
// They have the guarantees of that package: callbacks run in goroutines of their own, each step takes a real
// millisecond, and the times sent on channels ignore jumps. Timers of wheels that such callbacks set fire as soon as m
// notices them, at or after their deadline. A Mock is slowed down only from the first timer of the Clock on. For the
// Clock, Wrap returns m.
func (m *Mock) Benbjohnson() benbjohnson.Clock {
	m.requireMade()
	return follower{m}
}

// follower is a benbjohnson clock on the time of a Mock.
type follower struct{ mock *Mock }

func (f follower) Now() time.Time                  { return f.mock.Now() }
func (f follower) Since(t time.Time) time.Duration { return f.mock.Since(t) }
func (f follower) Until(t time.Time) time.Duration { return f.mock.Until(t) }

func (f follower) AfterFunc(d time.Duration, call func()) *benbjohnson.Timer {
	return f.mock.activate().AfterFunc(d, call)
}

func (f follower) Timer(d time.Duration) *benbjohnson.Timer   { return f.mock.activate().Timer(d) }
func (f follower) Ticker(d time.Duration) *benbjohnson.Ticker { return f.mock.activate().Ticker(d) }
func (f follower) After(d time.Duration) <-chan time.Time     { return f.Timer(d).C }
func (f follower) Tick(d time.Duration) <-chan time.Time      { return f.Ticker(d).C }
func (f follower) Sleep(d time.Duration)                      { <-f.After(d) }

func (f follower) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	jumped := time.Duration(f.mock.jumped.Load())
	ctx, cancel := f.mock.activate().WithDeadline(parent, t.Add(-jumped))
	if _, ok := ctx.Deadline(); ok && jumped != 0 {
		ctx = jumpedContext{ctx, t}
	}
	return ctx, cancel
}

// jumpedContext returns the deadline that WithDeadline was called with. The context that
// it embeds counts its deadline without jumps.
type jumpedContext struct {
	context.Context
	deadline time.Time
}

func (c jumpedContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (f follower) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return f.WithDeadline(parent, f.Now().Add(d))
}

var _ benbjohnson.Clock = follower{}
