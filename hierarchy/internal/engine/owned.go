package engine

import "github.com/epicycle-go/epicycle/level/arena"

// Owned is a timer with an owner, which sets it again and again, like the FuncTimers, Idles, Repeaters and ChanTimers of
// package hierarchy. The owner has it as a field.
//
// When the timer is due, the wheel calls the owner's method answer, with the shard's lock held. answer calls Asked, if it
// needs to, and then Fire, FireAndKeep or PutOff. It calls nothing else of the wheel, and takes no lock that is held in such
// a call.
//
// The timer has a place under MaxPending while it is set or kept, and with KeepsPlace until it is stopped.
type Owned[T any] struct {
	shard      *Shard[T]   // immutable once the timer is initialised, like answer and flags
	answer     T           // a value whose callback is the owner's method
	generation uint64      // guarded by the shard's lock, as all below
	index      uint32      // of the node, if there is one
	flags      arena.Flags // RunInWake and KeepsPlace, or none
	placed     bool        // whether it has a place that is not that of the node
}

// asked is what the owner of a timer is asked, and what it answers.
type asked[T any] struct {
	deadline int64 // the timer's
	due      bool  // whether the timer is due; otherwise the owner may only put it off
	keep     bool
	run      *T    // the callback, or nil if the timer is put off
	later    int64 // a new deadline, if it is after the present one
}

// Init makes o a timer of c that is not set.
func (o *Owned[T]) Init(c *Core[T], answer T, f arena.Flags) {
	s := c.lockAny()
	s.Sequence++ // so that lockAny samples as often as for other timers
	s.Mu.Unlock()
	o.shard, o.answer, o.flags = s, answer, f
}

// InitSet is Init and then Set. It returns ErrClosed or ErrFull if the wheel may not take the timer. No other call may use
// o meanwhile, but the timer may fire.
func (o *Owned[T]) InitSet(c *Core[T], answer T, f arena.Flags, now, deadline int64) error {
	if err := o.initHere(c.lockAny(), answer, f); err != nil {
		return err
	}
	o.setOrMove(now, deadline, false)
	return nil
}

// InitPassed is Init and then SetPassed, and returns an error as InitSet does.
func (o *Owned[T]) InitPassed(c *Core[T], answer T, f arena.Flags) error {
	if err := o.initHere(c.lockAny(), answer, f); err != nil {
		return err
	}
	o.setPassed()
	return nil
}

// initHere makes o a timer of s, and takes a place for it. The lock of s must be held, and is unlocked if there is an
// error.
func (o *Owned[T]) initHere(s *Shard[T], answer T, f arena.Flags) error {
	if err := s.admit(f, true); err != nil {
		s.Mu.Unlock()
		return err
	}
	o.shard, o.answer, o.flags, o.placed = s, answer, f, true
	return nil
}

// Core returns the wheel, or nil if o was not initialised.
func (o *Owned[T]) Core() *Core[T] {
	if o.shard == nil {
		return nil
	}
	return o.shard.Core
}

// Set makes the timer due at deadline, whether it is set or not. was reports whether it was set before, or kept. ok is
// false if it was not and the wheel is stopped.
func (o *Owned[T]) Set(now, deadline int64) (was, ok bool) {
	o.shard.Mu.Lock()
	return o.setOrMove(now, deadline, false)
}

// SetPassed is Set for a deadline that has passed, if the owner, which has KeepsPlace, itself does within its call what is
// to be done. The timer counts as fired, and is not set.
func (o *Owned[T]) SetPassed() (was, ok bool) {
	o.shard.Mu.Lock()
	return o.setPassed()
}

// setPassed is SetPassed. The lock of the shard must be held, and is unlocked.
func (o *Owned[T]) setPassed() (was, ok bool) {
	s := o.shard
	n := s.lookup(o.index, o.generation)
	if was = n != nil; was {
		s.Counts.Moved++
		s.discard(o.index, n)
	}
	if ok = !s.Closed; ok {
		o.takePlace()
		s.countPassed()
	}
	s.Mu.Unlock()
	return was, ok
}

// Rearm is Set for a timer that is set or kept, and reports whether it is. It does not count as a move. If the timer is
// kept, its task is with the executor, and Rearm leaves the timer as it is, unless nothing of the wheel is in flight. Then
// the executor has lost the task by a panic.
func (o *Owned[T]) Rearm(now, deadline int64) bool {
	o.shard.Mu.Lock()
	was, _ := o.setOrMove(now, deadline, true)
	return was
}

// AskOnMock asks the owner, before the timer is due, if the clock is a mock. So the mock sees at once that the owner puts
// the timer off.
func (o *Owned[T]) AskOnMock(now int64) {
	s := o.shard
	if s.Core.mock == nil {
		return
	}
	s.Mu.Lock()
	n := s.lookup(o.index, o.generation)
	if n == nil {
		s.Mu.Unlock()
		return
	}
	if a := s.askOwner(o.answer, asked[T]{deadline: n.Key}); a.later >= n.Key {
		s.putOff(now, o.index, n, a.later)
	}
	s.unlockFor(n.Key)
}

// setOrMove is Set or Rearm. The lock of the shard must be held, and is unlocked.
func (o *Owned[T]) setOrMove(now, deadline int64, rearm bool) (was, ok bool) {
	s := o.shard
	n := s.lookup(o.index, o.generation)
	linked := n != nil && n.Linked()
	switch {
	case n == nil && (rearm || s.Closed):
		s.Mu.Unlock()
		return false, false
	case rearm && !linked && !s.Core.inFlight.none():
		s.Mu.Unlock()
		return true, true
	}
	if linked && !rearm {
		s.Counts.Moved++
	}
	wakeBy := int64(0)
	switch {
	case deadline <= now && s.firesInCall(o.flags):
		o.fireInCall(n, now, deadline)
		return n != nil, true
	case n == nil:
		wakeBy = o.setNode(now, deadline)
	default:
		wakeBy = s.move(o.index, n, now, deadline)
	}
	s.unlockSet(now, deadline, wakeBy)
	return n != nil, true
}

// setNode sets the timer, which has no node. The lock of the shard must be held.
func (o *Owned[T]) setNode(now, deadline int64) (wakeBy int64) {
	o.takePlace()
	o.placed = o.flags&KeepsPlace != 0 // otherwise the place is that of the node
	o.index, o.generation, wakeBy = o.shard.set(o.answer, now, deadline, o.flags|IsOwned)
	return wakeBy
}

// takePlace takes a place, unless o has one: beyond the limit if need be, since Set has no error to report that the wheel
// is full. The lock of the shard must be held.
func (o *Owned[T]) takePlace() {
	if !o.placed {
		o.placed = true
		o.shard.Core.quota.force()
	}
}

// givePlaceBack undoes takePlace.
func (o *Owned[T]) givePlaceBack() {
	if o.placed {
		o.placed = false
		o.shard.Core.quota.release(1)
	}
}

// fireInCall fires the timer, whose deadline has passed, within the call. n is its node, or nil. The lock of the shard must
// be held, and is unlocked.
func (o *Owned[T]) fireInCall(n *arena.Node, now, deadline int64) {
	s := o.shard
	s.book(now - deadline)
	a := s.askOwner(o.answer, asked[T]{deadline: deadline, due: true})
	wakeBy := EndOfTime
	switch {
	case a.keep && n == nil:
		wakeBy = o.setNode(now, EndOfTime)
		s.Timers.Unlink(s.Timers.Arena().At(o.index))
	case a.keep:
		s.Timers.Unlink(n)
	case n != nil:
		s.discard(o.index, n)
	default:
		s.Sequence++
		o.givePlaceBack()
	}
	s.unlockBooked(*a.run, wakeBy)
}

// Stop makes the timer neither set nor kept, and reports whether it was. From then on its memory is not used.
func (o *Owned[T]) Stop() bool {
	s := o.shard
	s.Mu.Lock()
	n := s.lookup(o.index, o.generation)
	if n != nil {
		s.discard(o.index, n)
		s.Counts.Stopped++
	}
	o.givePlaceBack()
	s.Mu.Unlock()
	return n != nil
}

// Asked returns the deadline of the timer, and whether it is due. If it is not, the owner may only put it off.
func (o *Owned[T]) Asked() (deadline int64, due bool) {
	return o.shard.asked.deadline, o.shard.asked.due
}

// Fire answers that the callback of run is to be called. The timer is not set any more.
func (o *Owned[T]) Fire(run *T) { o.shard.asked.run = run }

// FireAndKeep answers that the callback of run is to be called. The timer is kept: it counts as pending, but is not due
// until it is set again.
func (o *Owned[T]) FireAndKeep(run *T) { o.shard.asked.run, o.shard.asked.keep = run, true }

// PutOff answers that the timer is due at a later time.
func (o *Owned[T]) PutOff(later int64) { o.shard.asked.later = later }

// askOwner calls the method of an owner. Mu must be held.
func (s *Shard[T]) askOwner(method T, question asked[T]) (answer asked[T]) {
	s.Mu.assertHeld()
	s.asked = question
	s.Core.fire(method)
	answer, s.asked = s.asked, asked[T]{} // the owner may be garbage soon
	return answer
}
