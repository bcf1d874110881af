package engine

import (
	"context"
	"log/slog"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
)

// Stop drops all pending timers, refuses new ones, and stops the alarm, so that the clock
// no longer keeps the wheel alive. The first call then calls the callbacks of the dropped
// timers with CallOnStop. Other calls do not wait for them: they may come from inside such
// a callback, or from a goroutine that it waits for.
func (c *Core[T]) Stop() {
	RequireMade(c != nil, "wheel")
	var told []T
	first := false
	c.ending.Do(func() {
		first = true
		c.telling.addRound()
		told = c.dropAll()
	})
	if first {
		defer c.telling.removeRound()
		c.tell(told)
	}
}

// dropAll is Stop without the callbacks. It returns the values whose callbacks must be called.
func (c *Core[T]) dropAll() (told []T) {
	c.stoppedAt.Store(c.Now())
	c.closed.Store(true)
	for _, s := range c.Shards {
		s.Mu.Lock()
		s.Closed = true
		tell := s.onStop > 0
		detached, n := s.detach()
		s.Counts.Dropped += uint64(n)
		s.Mu.Unlock()
		if tell {
			told = append(told, detached.Flagged(CallOnStop)...)
		}
	}
	c.aim.stop()
	c.mock.detach()
	close(c.done)
	return told
}

// tell calls the callbacks of told. If one panics or exits the goroutine, the others are called before the panic or the
// exit continues.
func (c *Core[T]) tell(told []T) {
	executor.CallAll(func() bool {
		if len(told) == 0 {
			return false
		}
		v := told[0]
		told = told[1:]
		c.invoke(v)
		return true
	})
}

// Shutdown stops the wheel and waits for the callbacks that were dispatched. It also waits for the callbacks that a
// concurrent Stop calls.
func (c *Core[T]) Shutdown(ctx context.Context) error {
	RequireContext(ctx, "Shutdown")
	c.Stop()
	if err := c.telling.wait(ctx); err != nil {
		return err
	}
	return c.inFlight.wait(ctx)
}

// Drain takes all pending timers out at once and calls fn for each, in order of deadline.
func (c *Core[T]) Drain(fn func(v T, deadline int64)) int {
	RequireMade(c != nil, "wheel")
	for _, s := range c.Shards {
		s.Mu.Lock()
	}
	var all []*timers.Timers[T]
	total := 0
	for _, s := range c.Shards {
		detached, n := s.detach()
		s.Counts.Drained += uint64(n)
		total += n
		if n > 0 {
			all = append(all, detached)
		}
	}
	c.quota.release(total)
	for _, s := range c.Shards {
		s.Mu.Unlock()
	}
	c.pass(&drainOrder[T]{all}, fn)
	return total
}

// pass calls fn for all values of m. If fn panics or exits the goroutine, the panic or exit continues after fn was
// called for the others.
func (c *Core[T]) pass(m *drainOrder[T], fn func(T, int64)) {
	finished := false
	defer func() {
		if !finished {
			c.passRest(m, fn)
		}
	}()
	guarded := func(v T, deadline int64) { c.guard(func(v T) { fn(v, deadline) }, v) }
	for m.callNext(guarded) {
	}
	finished = true
}

// passRest calls fn for the values that are left after a panic or an exit of the goroutine. If there is no OnPanic, the
// first panic continues in the caller, and further ones are logged. After a second exit fn is called in other
// goroutines, since each further exit would use more of the caller's stack.
func (c *Core[T]) passRest(m *drainOrder[T], fn func(T, int64)) {
	finished, panics, last := false, 0, any(nil)
	contain := func(v T, deadline int64) {
		defer func() {
			if r := recover(); r != nil {
				panics, last = panics+1, r
			}
		}()
		c.guard(func(v T) { fn(v, deadline) }, v)
	}
	defer func() {
		if !finished {
			executor.CallAllElsewhere(func() bool { return m.callNext(contain) })
		}
		if panics > 0 {
			slog.Error("hierarchy: Drain's function panicked again", "times", panics, "last", last)
		}
	}()
	for m.callNext(contain) {
	}
	finished = true
}

// drainOrder takes timers out of detached shards, in order of deadline.
type drainOrder[T any] struct{ from []*timers.Timers[T] }

// callNext takes the earliest timer out and calls fn for it. It reports false if no timer is left.
func (m *drainOrder[T]) callNext(fn func(T, int64)) bool {
	v, deadline, ok := m.next()
	if ok {
		fn(v, deadline)
	}
	return ok
}

// next removes the earliest timer, and returns its value and its deadline. ok is false if no timer is left.
func (m *drainOrder[T]) next() (v T, deadline int64, ok bool) {
	best, earliest := -1, circles.Verdict{}
	for f := 0; f < len(m.from); {
		verdict := m.from[f].Next(EndOfTime, circles.Unlimited)
		if verdict.State == circles.Empty {
			m.from[f] = m.from[len(m.from)-1]
			m.from = m.from[:len(m.from)-1]
			continue
		}
		if best < 0 || verdict.At < earliest.At {
			best, earliest = f, verdict
		}
		f++
	}
	if best < 0 {
		return v, 0, false
	}
	t := m.from[best]
	v = *t.Value(earliest.Node)
	t.Remove(earliest.Node, t.Arena().At(earliest.Node)) // no Clear: all values become garbage together
	return v, earliest.At, true
}

// Closed reports whether the wheel is stopped.
func (c *Core[T]) Closed() bool {
	RequireMade(c != nil, "wheel")
	return c.closed.Load()
}
