package level

import "github.com/epicycle-go/epicycle/level/arena"

// Slot is what a slot holds: a chain of entries, and earlier entries that were sorted or cascaded ahead of the slot's
// time.
type Slot struct {
	arena.Chain
	// Invariant: both are within the slot. No deadline of the chain or of Sub is below Least. No deadline of the chain
	// was above Most when its entry was added.
	Least, Most int64
	Sub         *Circle // the sub-circle of the entries that were cascaded ahead, or nil
	Run         *Run    // the entries that were sorted ahead, or nil
}

// Holds reports whether anything is in s.
func (s *Slot) Holds() bool { return s.Len() > 0 || s.Sub != nil || s.Run != nil }

// Span extends Least and Most to include key, the deadline of an entry that is about to be added.
func (s *Slot) Span(key int64) {
	if s.Len() == 0 {
		s.Least, s.Most = key, key
	}
	s.Least, s.Most = min(s.Least, key), max(s.Most, key)
}

// Size returns the number of entries that are not in a sub-circle.
func (s *Slot) Size() int {
	n := s.Len()
	if s.Run != nil {
		n += s.Run.Len()
	}
	return n
}
