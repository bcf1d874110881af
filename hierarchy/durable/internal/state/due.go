package state

import (
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Build puts all waiting timers that are not paused on their wheels, once all frames that were in the log have been read. Until then no
// timer is due. Putting each timer on its wheel once costs a quarter of keeping the wheels up to date while the log is
// read. More frames may be read after Build.
func (s *State) Build() {
	s.built = true
	for i := uint32(1); i < s.records.next; i++ {
		switch r := s.records.timer(i); {
		case r == nil:
		case r.state == dead:
			s.bury(i, r)
		case r.state == waiting:
			wall, until := r.wall, r.due
			if next, ok := s.next[i]; ok {
				wall, until = false, next
			}
			s.place(i, r, wall, until)
		}
	}
	s.next = make(map[uint32]int64)
}

// Advance moves the hands of the wheels, which must be empty, to the time of a frame. If a hand stood at the Unix
// epoch, all timers of the present would be in one slot of a wheel. A hand may be ahead of the time that Pop is given
// later, as Pop does not rely on the hands.
func (s *State) Advance(now int64) {
	for _, wheel := range s.wheels {
		advance(wheel, now)
	}
	advance(s.graves, now)
}

func advance(wheel *hierarchy.Driven[uint32], now int64) {
	if wheel.Len() > 0 {
		return
	}
	for range wheel.Expire(time.Duration(now)) { // moves the hand
	}
}

// Built reports whether Build was called.
func (s *State) Built() bool { return s.built }

// Own is called after the takeover by this process. The argument now is the time of the takeover's frame, and before is
// the time of the frame that precedes it. After Own, only frames that this process writes are applied.
func (s *State) Own(before, now int64) {
	s.owned = true
	s.Advance(now)
	s.requests.renew(before, now)
}

// Forget forgets the callers that need not be remembered any more. now is the time of a frame.
func (s *State) Forget(now int64) { s.requests.expire(now) }

// Begun returns the timers with an attempt of which the log has the begin but not the end. Their order depends on the log
// alone.
func (s *State) Begun() (refs []Ref) {
	for i := range s.begun {
		refs = append(refs, Ref(i))
	}
	slices.Sort(refs)
	return refs
}

// HasBegun reports whether the log has the begin of an attempt of a timer but not the end.
func (s *State) HasBegun(ref Ref) bool {
	_, begun := s.begun[uint32(ref)]
	return begun
}

// Next returns when the earliest timer on one of the wheels is due. If wall is true, that is the wheel for wall times,
// otherwise the wheel for the owner's time.
func (s *State) Next(wall bool) (due int64, ok bool) {
	d, ok := s.wheel(wall).Next()
	return int64(d), ok
}

// Pop takes the earliest timer that is due off its wheel, given the owner's time and the wall time, and makes it held.
// If both wheels have a timer that is due, Pop takes the one that is more overdue. The wall time may have gone back,
// but a wheel also keeps timers in order that are due before the time of its hand.
func (s *State) Pop(now, wall int64) (d Due, ok bool) {
	w := s.due(now, wall)
	if w < 0 {
		return d, false
	}
	next, _ := s.wheels[w].Next()
	for i := range s.wheels[w].Expire(time.Duration([2]int64{now, wall}[w])) {
		s.preservePopped(i, int64(next), w == 1)
		r := s.records.at(i)
		r.state, r.handle = held, hierarchy.Handle{}
		if r.attempt > 0 || int64(next) != r.due {
			s.next[i] = int64(next)
		}
		s.list(i) // an attempt that was left is over
		return Due{Ref(i), int64(next), w == 1}, true
	}
	return d, false
}

// Due is a timer that is due. Since is the time since which it is due: a wall time if Wall is true, otherwise a time by
// the owner's clock.
type Due struct {
	Ref   Ref
	Since int64
	Wall  bool
}

// AnyDue reports whether Pop would return a timer.
func (s *State) AnyDue(now, wall int64) bool { return s.due(now, wall) >= 0 }

// due returns the wheel from which Pop takes a timer, or -1.
func (s *State) due(now, wall int64) int {
	times := [2]int64{now, wall}
	best, late := -1, int64(-1)
	for w, wheel := range s.wheels {
		if due, ok := wheel.Next(); ok && int64(due) <= times[w] {
			if l := Sub(times[w], int64(due)); l > late {
				best, late = w, l
			}
		}
	}
	return best
}

// Start records that an attempt of the timer with that ID begins, if the timer is still held. If the log has the attempt
// already, which was left and was the last, it only fails.
func (s *State) Start(ref Ref, id frame.ID, number uint32) {
	if s.Held(ref, id) {
		s.preserve(uint32(ref))
		r := s.records.at(uint32(ref))
		if r.state = running; s.WasLeft(ref) && number == r.attempt {
			s.fails[uint32(ref)] = struct{}{}
		}
		s.list(uint32(ref))
	}
}

// Hold records that an attempt that had started does not begin yet. Its timer, which was due, is held again. If it was
// paused meanwhile, it waits, unless the log has the begin of the attempt.
func (s *State) Hold(d Due, id frame.ID) {
	if !s.IsRunning(d.Ref, id) {
		return
	}
	i := uint32(d.Ref)
	s.preserve(i)
	delete(s.fails, i)
	r := s.records.at(i)
	if r.state = held; s.isPaused(i) && !s.HasBegun(d.Ref) {
		s.waitUntil(i, r, d.Wall, d.Since)
	}
	s.list(i)
}

// Left returns the name of the attempt that was left, if it still goes on: its timer is not due again. Otherwise it
// returns 0.
func (s *State) Left(ref Ref) uint64 {
	if r := s.records.timer(uint32(ref)); r == nil || r.state != waiting {
		return 0
	}
	return s.left[uint32(ref)]
}

// WasLeft reports whether the last attempt of a timer was left, and has no end.
func (s *State) WasLeft(ref Ref) bool {
	_, ok := s.left[uint32(ref)]
	return ok
}

// EachHeld calls f for all timers that are held.
func (s *State) EachHeld(f func(Ref)) {
	for i := uint32(1); i < s.records.next; i++ {
		if r := s.records.timer(i); r != nil && r.state == held {
			f(Ref(i))
		}
	}
}

// Held reports whether the timer with that ID is held.
func (s *State) Held(ref Ref, id frame.ID) bool {
	return s.is(ref, id, held)
}

// IsRunning reports whether an attempt of the timer with that ID is in progress.
func (s *State) IsRunning(ref Ref, id frame.ID) bool {
	return s.is(ref, id, running)
}

func (s *State) is(ref Ref, id frame.ID, st status) bool {
	r := s.records.timer(uint32(ref))
	return r != nil && r.state == st && r.id == id
}

// wait makes a timer wait for its due time, on the wheel for wall times or on the wheel for the owner's time.
func (s *State) wait(i uint32, r *record, until int64) { s.waitUntil(i, r, r.wall, until) }

// waitUntil makes a timer wait. Between two attempts every timer waits in the owner's time, even a timer that was set
// for a wall time.
func (s *State) waitUntil(i uint32, r *record, wall bool, until int64) {
	r.state = waiting
	switch {
	case s.built:
		s.place(i, r, wall, until)
	case r.attempt > 0 || until != r.due:
		s.next[i] = until
	}
}

// place puts a timer on a wheel, unless it is paused.
func (s *State) place(i uint32, r *record, wall bool, until int64) {
	if s.isPaused(i) {
		s.parked[i] = parked{until, wall}
		return
	}
	r.handle = s.wheel(wall).Set(i, time.Duration(until))
}

func (s *State) wheel(wall bool) *hierarchy.Driven[uint32] {
	if wall {
		return s.wheels[1]
	}
	return s.wheels[0]
}

// unwheel takes a waiting timer off the wheel that it is on.
func (s *State) unwheel(i uint32, r *record) {
	if !s.built {
		delete(s.next, i)
		return
	}
	delete(s.parked, i)
	if _, ok := s.wheels[0].Remove(r.handle); !ok {
		s.wheels[1].Remove(r.handle)
	}
	r.handle = hierarchy.Handle{}
}
