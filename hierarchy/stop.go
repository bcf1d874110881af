package hierarchy

import (
	"context"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// stop drops all pending timers, refuses new ones, and stops the alarm, so that the clock
// no longer keeps the wheel alive. The first call then calls the callbacks of the dropped
// timers with callOnStop. Other calls do not wait for them: they may come from inside such
// a callback, or from a goroutine that it waits for.
func (c *core[T]) stop() {
	requireMade(c != nil, "wheel")
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

// dropAll is stop without the callbacks. It returns what to call them with.
func (c *core[T]) dropAll() (told []T) {
	c.stoppedAt.Store(c.now())
	c.closed.Store(true)
	for _, s := range c.shards {
		s.mu.Lock()
		s.closed = true
		tell := s.onStop > 0
		detached, n := s.detach()
		s.counts.dropped += uint64(n)
		s.mu.Unlock()
		if tell {
			told = append(told, detached.Flagged(callOnStop)...)
		}
	}
	c.aim.stop()
	c.mock.detach()
	close(c.done)
	return told
}

// tell calls the callbacks of told. If one panics or exits the goroutine, the others are
// called first.
func (c *core[T]) tell(told []T) {
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

// shutdown stops the wheel and waits for the callbacks that were dispatched, and for those
// that another call of stop calls.
func (c *core[T]) shutdown(ctx context.Context) error {
	requireContext(ctx, "Shutdown")
	c.stop()
	if err := c.telling.wait(ctx); err != nil {
		return err
	}
	return c.inFlight.wait(ctx)
}
