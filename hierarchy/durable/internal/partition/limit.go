package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// This file has the time limit of an attempt. The context of an attempt ends after the timeout. If the handler has not
// returned after twice the timeout, the attempt is given up: it counts as failed, and its place is free. The handler
// then counts as stuck until it returns.

// ErrTimeout is the cause with which the context of an attempt ends if the attempt takes too long.
var ErrTimeout = errors.New("durable: the attempt has taken longer than Timeout")

// limits are the time limits of all attempts of a process.
type limits struct {
	timeout time.Duration
	wheel   *hierarchy.Wheel
}

// limit is the time limit of one attempt. The zero limit limits nothing.
type limit struct {
	ctx    context.Context // the context of the handler
	cancel context.CancelFunc
	checks hierarchy.Timer // on a mock clock: fires when the context ends
	gives  hierarchy.Timer // fires when the attempt must be given up
}

// Limit limits the time of all attempts. It must be called before the Crew is used, and Close must be called later.
func (c *Crew) Limit(timeout time.Duration, clk clock.Clock) error {
	wheel, err := hierarchy.New(hierarchy.Config{Clock: clk})
	if err == nil {
		c.limits = limits{timeout, wheel}
	}
	return err
}

// Close stops the time limits. No attempt may begin after that.
func (c *Crew) Close() {
	if c.limits.wheel != nil {
		c.limits.wheel.Stop()
	}
}

// Stuck returns the number of handlers that still run although their attempts were given up.
func (c *Crew) Stuck() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.givenUp
}

func (f *firer) addStuck(n int) {
	f.mu.assertHeld()
	f.stuck += n
	c := f.cfg.Crew
	c.mu.Lock()
	c.givenUp += n
	c.mu.Unlock()
}

// limited returns the context for the handler of an attempt that begins now: the context of the attempt, with the time
// limit if there is one.
func (f *firer) limited(a *attempt) context.Context {
	l := &f.cfg.Crew.limits
	if l.wheel == nil {
		return a.ctx
	}
	a.limit.ctx, a.limit.cancel = l.wheel.WithTimeoutCause(a.ctx, l.timeout, ErrTimeout)
	// A stopped wheel refuses timers. No attempt begins any more after the wheel is stopped, so the error is ignored.
	if f.virtual {
		a.limit.checks, _ = l.wheel.AfterFunc(l.timeout, func() { f.await(a.done) })
	}
	a.limit.gives, _ = l.wheel.AfterFunc(twice(l.timeout), func() { f.giveUp(a) })
	return a.limit.ctx
}

// twice returns 2d, or the longest duration.
func twice(d time.Duration) time.Duration {
	if d > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return 2 * d
}

// end ends the limit of an attempt whose handler has returned err. It returns the result of the attempt, which has
// failed if it took too long.
func (l *limit) end(err error) error {
	if l.ctx == nil {
		return err
	}
	l.cancel()
	l.checks.Stop()
	l.gives.Stop()
	switch timeout := context.Cause(l.ctx) == ErrTimeout; {
	case timeout && err == nil:
		return ErrTimeout
	case timeout:
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return err
}

// giveUp ends an attempt whose handler has not returned long after the end of its context. The result that the handler
// returns later is ignored.
func (f *firer) giveUp(a *attempt) {
	f.mu.Lock()
	if a.Over {
		f.mu.Unlock()
		return
	}
	a.Stuck = true
	f.addStuck(1)
	f.mu.Unlock()
	f.cfg.Logger.Warn("durable: a handler is stuck: it has not returned after twice Timeout",
		"partition", f.cfg.Partition, "key", a.Firing.Key, "attempt", a.Number, "timeout", f.cfg.Crew.limits.timeout)
	a.cancel(nil)
	f.conclude(a, ErrTimeout)
	if f.virtual {
		<-a.done
	}
}

// returned records that the handler of an attempt has returned. It reports false if the attempt was given up, left or
// ended by its token before.
func (f *firer) returned(a *attempt) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Stuck {
		f.addStuck(-1)
	}
	return f.core.Returned(&a.Attempt)
}

// mockPatience is the real time for which a mock clock waits for a handler that has a time limit. The clock stands
// still meanwhile, so a handler that waits for the end of its context would never return. After mockPatience the clock
// goes on without waiting for the handler.
const mockPatience = 2 * time.Second

// await makes a mock clock wait until the result of an attempt is in the log, or for mockPatience if there is a time
// limit.
func (f *firer) await(done wait.Signal) {
	if f.cfg.Crew.limits.wheel == nil {
		<-done
		return
	}
	impatient := time.NewTimer(mockPatience)
	defer impatient.Stop()
	select {
	case <-done:
	case <-impatient.C:
	}
}
