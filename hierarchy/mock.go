package hierarchy

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// onMock connects a wheel to the *clock.Mock that steps it. On other clocks it is nil: then
// nextOrder and run do their work without a mock, and the other methods do nothing.
//
// More differs on a mock than what stands here: config.go chooses one shard and Inline,
// aim.go gathers nothing, and shard.go has timers of one deadline keep their order.
type onMock struct{ alarm *clock.MockAlarm }

// attach has the mock step the wheel, if the alarm is a mock's.
func attach[T any](c *core[T]) *onMock {
	a, ok := c.aim.alarm.(*clock.MockAlarm)
	if !ok {
		return nil
	}
	a.Attach(stepped[T]{c})
	return &onMock{a}
}

func (m *onMock) detach() {
	if m != nil {
		m.alarm.Detach()
	}
}

// nextOrder is a new sequence number: the shard's own, or one of the mock's, which has one
// sequence for all its wheels.
func (m *onMock) nextOrder(own *uint64) uint64 {
	if m != nil {
		return m.alarm.NextOrder()
	}
	*own++
	return *own
}

// latestOrder is at least the last sequence number that nextOrder has given.
func (m *onMock) latestOrder(own uint64) uint64 {
	if m != nil {
		defer m.alarm.Noted()
		return m.alarm.NextOrder()
	}
	return own
}

// noted follows each nextOrder, when the timer is set and aimed at.
func (m *onMock) noted() {
	if m != nil {
		m.alarm.Noted()
	}
}

// run calls f as a callback of the mock, which must not be moved inside.
func (m *onMock) run(f func()) {
	if m != nil {
		m.alarm.Run(f)
	} else {
		f()
	}
}

// stepped is a wheel as its mock clock sees it: one shard, whose cascades are not
// interrupted, as time stands still meanwhile.
type stepped[T any] struct{ c *core[T] }

// Step is wake for one instant: it fires the earliest timer if that is due, and after it
// those of the same deadline whose order is below limit. Then it is the turn of another
// wheel.
func (w stepped[T]) Step(limit uint64) {
	c := w.c
	c.inFlight.addRound()
	defer c.inFlight.removeRound()
	if r, ok := c.beginRound(); ok {
		defer r.end()
		r.fireInstant(limit)
		r.complete = true
	}
}

// fireInstant fires timers of the nearest deadline, which the mock has just had Nearest
// find. That deadline may have passed, if a caller read the clock before it moved. Then
// other wheels may have timers that are due before the next one here.
func (r *round[T]) fireInstant(limit uint64) {
	c, s := r.core, r.core.shards[0]
	before := moment{min(bound(r.now), s.notBefore.load()), math.MaxUint64}
	for !c.closed.Load() {
		v, f, state := s.popDue(r.now, before, math.MaxInt)
		if state != popped {
			return
		}
		r.dispatch(v, f)
		before.order = limit
	}
}

// Nearest is the exact earliest deadline, where the alarm is aimed when it returns.
func (w stepped[T]) Nearest() (deadline time.Duration, order uint64, ok bool) {
	deadline, order, ok = w.c.shards[0].earliest()
	w.c.aim.correct(w.c.nearest)
	return deadline, order, ok
}

func (w stepped[T]) Settle() bool { return w.c.inFlight.awaitTasks() }
func (w stepped[T]) Len() int     { return w.c.len() }

// earliest is the exact deadline and the order of the earliest timer.
func (s *shard[T]) earliest() (deadline time.Duration, order uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := uint32(0)
	if s.timers != nil {
		i = s.timers.Earliest()
	}
	if i == 0 {
		s.notBefore.store(none)
		return 0, 0, false
	}
	n := s.timers.Arena().At(i)
	s.notBefore.store(bound(n.Key))
	return time.Duration(n.Key), n.Order(), true
}
