package engine

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
)

// onMock connects a wheel to the *clock.Mock that steps it. On other clocks it is nil: then nextOrder, latestOrder and
// run work without a mock, and the other methods do nothing.
//
// Other differences on a mock are elsewhere: Config.fillIn of package hierarchy chooses one shard, and Inline if there is no
// executor; aim.init makes the aim gather nothing; New makes timers fire in exact order, and none fires within the call
// that sets it; Passed and PassSoon report false; a touch of an Idle moves its timer.
type onMock struct{ alarm clock.MockAlarm }

// attach makes the mock step the wheel, if the alarm is a mock's.
func attach[T any](c *Core[T]) *onMock {
	a, ok := c.aim.alarm.(clock.MockAlarm)
	if !ok {
		return nil
	}
	a.Attach(steppable[T]{c})
	return &onMock{a}
}

func (m *onMock) detach() {
	if m != nil {
		m.alarm.Detach()
	}
}

// nextOrder returns a new sequence number: the shard's own, or one of the mock's, which has one
// sequence for all its wheels.
func (m *onMock) nextOrder(own *uint64) uint64 {
	if m != nil {
		return m.alarm.NextOrder()
	}
	*own++
	return *own
}

// latestOrder returns a number that is at least the last sequence number that nextOrder has returned.
func (m *onMock) latestOrder(own uint64) uint64 {
	if m != nil {
		defer m.alarm.Noted()
		return m.alarm.NextOrder()
	}
	return own
}

// noted must be called after each nextOrder, once the timer is set and the alarm is aimed.
func (m *onMock) noted() {
	if m != nil {
		m.alarm.Noted()
	}
}

// run calls f as a callback of the mock. The mock must not be moved inside f.
func (m *onMock) run(f func()) {
	if m != nil {
		m.alarm.Run(f)
	} else {
		f()
	}
}

// steppable is the interface of a wheel to its mock clock: one shard, whose cascades are not interrupted, as time
// stands still meanwhile.
type steppable[T any] struct{ c *Core[T] }

// Step is wake for one instant: it fires the earliest timer if that is due, and then the timers with the same deadline
// whose order is below limit. From the order limit on, it is the turn of another wheel.
func (w steppable[T]) Step(limit uint64) {
	c := w.c
	c.inFlight.addRound()
	defer c.inFlight.removeRound()
	if r, ok := c.beginRound(); ok {
		defer r.end()
		r.fireInstant(limit)
		r.complete = true
	}
}

// fireInstant fires the timers of the nearest deadline, which the mock has just obtained from Nearest. That deadline
// may have passed, if a caller of this wheel read the clock before the mock moved it. Then other wheels may have timers
// that are due before the next timer of this wheel.
func (r *round[T]) fireInstant(limit uint64) {
	c, s := r.core, r.core.Shards[0]
	before := moment{min(bound(r.now), s.notBefore.load()), math.MaxUint64}
	for !c.closed.Load() {
		if r.fireSome(s, before) != circles.Due {
			return
		}
		before.order = limit
	}
}

// Nearest returns the exact earliest deadline, and aims the alarm at it. order is 0 if that deadline has not come.
func (w steppable[T]) Nearest() (deadline time.Duration, order uint64, ok bool) {
	deadline, order, ok = w.c.Shards[0].exactNearest(w.c.Now())
	w.c.aim.correct(w.c.nearest)
	return deadline, order, ok
}

func (w steppable[T]) Settle() bool { return w.c.inFlight.awaitTasks() }
func (w steppable[T]) Len() int     { return w.c.Len() }

// exactNearest is steppable.Nearest for s, without the alarm.
func (s *Shard[T]) exactNearest(now int64) (deadline time.Duration, order uint64, ok bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	verdict := circles.Verdict{}
	if s.Timers != nil {
		verdict = s.Timers.Next(now, circles.Unlimited)
	}
	switch verdict.State {
	case circles.Empty:
		s.notBefore.store(none)
		return 0, 0, false
	case circles.Due:
		order = s.Timers.Arena().At(verdict.Node).Order()
	}
	s.notBefore.store(bound(verdict.At))
	return time.Duration(verdict.At), order, true
}

// LatestOrder returns a number that is at least the last order that a timer was given. Mu must be held.
func (s *Shard[T]) LatestOrder() uint64 { return s.Core.mock.latestOrder(s.Sequence) }
