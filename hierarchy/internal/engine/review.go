package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
)

// Stopping a timer, or moving it later, leaves the alarm as it is: most timers are stopped, and few of them were the
// next one due. So the alarm may be aimed at a time when nothing is due any more. A clock that prepares a ring before
// its time first checks with the wheel whether it still needs the ring.

// soon is the longest time before its deadline at which the owner of a timer is called, to put the timer off if it
// wants.
const soon = int64(time.Second)

// expectReview registers review with the clock's alarm, if the alarm can call it.
func (c *Core[T]) expectReview() {
	if a, ok := c.aim.alarm.(clock.Reviewer); ok {
		a.Review(c.review)
	}
}

// review aims the alarm at the nearest deadline, which may be later than the present aim, or stops it if nothing is
// pending.
func (c *Core[T]) review() {
	c.lookAgain()
	c.aim.correct(c.nearest)
}

// lookAgain finds out when the next timer is due on each shard. A round that dispatched nothing also calls lookAgain:
// otherwise a shard whose timers were stopped would make the wheel wake again for nothing.
func (c *Core[T]) lookAgain() {
	now := c.Now()
	for _, s := range c.Shards {
		if s.notBefore.load() != none {
			s.lookAgain(now)
		}
	}
}

// lookAgain finds out when the next timer of s is due.
func (s *Shard[T]) lookAgain(now int64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for range yieldEvery {
		if s.Timers == nil {
			s.notBefore.store(none)
			return
		}
		switch verdict := s.Timers.Next(now, batch); verdict.State {
		case circles.Empty:
			s.notBefore.store(none)
			return
		case circles.NotBefore:
			s.notBefore.store(bound(verdict.At))
			if verdict.At > now+soon || verdict.Node == 0 || !s.putOffEarly(now, verdict.Node) {
				return
			}
		default:
			return
		}
	}
}
