package state

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Dead timers wait on a wheel of their own, unless they are kept for ever.

// SetKeepDead sets the time for which dead timers are kept. With 0, the default, they are kept for ever. It must be
// called on an empty State.
func (s *State) SetKeepDead(d time.Duration) { s.keepDead = int64(d) }

// bury makes a dead timer wait for the end of the time for which it is kept.
func (s *State) bury(i uint32, r *record) {
	if s.keepDead > 0 {
		r.handle = s.graves.Set(i, time.Duration(Add(s.extra(i).Failed, s.keepDead)))
	}
}

// unbury undoes bury, and forgets why the timer has died.
func (s *State) unbury(i uint32, r *record) {
	s.graves.Remove(r.handle)
	r.handle = hierarchy.Handle{}
	e := s.extra(i)
	e.Forgive()
	s.setExtra(i, e)
}

// NextExpiry returns when, in the owner's time, the first dead timer need not be kept any more.
func (s *State) NextExpiry() (at int64, ok bool) {
	d, ok := s.graves.Next()
	return int64(d), ok
}

// PopExpired takes a dead timer off its wheel that, at the owner's time now, need not be kept any more. The timer stays
// dead until an Expire removes it.
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
