package state

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Dead timers that are not kept for ever wait on a wheel of their own.

// SetKeepDead sets for how long dead timers are kept. 0, as in the beginning, is for ever. It is called on an empty
// State.
func (s *State) SetKeepDead(d time.Duration) { s.keepDead = int64(d) }

// bury makes a dead timer wait until it need not be kept any more.
func (s *State) bury(i uint32, r *record) {
	if s.keepDead > 0 {
		r.handle = s.graves.Set(i, time.Duration(Add(s.extra(i).Died, s.keepDead)))
	}
}

// unbury undoes bury, and forgets what is said of the dead.
func (s *State) unbury(i uint32, r *record) {
	s.graves.Remove(r.handle)
	r.handle = hierarchy.Handle{}
	e := s.extra(i)
	e.LastError, e.Died = "", 0
	s.setExtra(i, e)
}

// NextExpiry returns when the first dead timer need not be kept any more, in the owner's time.
func (s *State) NextExpiry() (at int64, ok bool) {
	d, ok := s.graves.Next()
	return int64(d), ok
}

// PopExpired takes a dead timer out that need not be kept any more, in the owner's time. It is dead still, until
// an Expire says that it is gone.
func (s *State) PopExpired(now int64) (ref Ref, ok bool) {
	if at, ok := s.NextExpiry(); !ok || at > now {
		return 0, false
	}
	for i := range s.graves.Expire(time.Duration(now)) {
		s.records.at(i).handle = hierarchy.Handle{}
		return Ref(i), true
	}
	return 0, false
}

// IsDead reports whether the timer of a record has that ID, and is dead.
func (s *State) IsDead(ref Ref, id frame.ID) bool { return s.is(ref, id, dead) }
