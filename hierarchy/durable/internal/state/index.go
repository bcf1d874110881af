package state

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// States is a set of states that a timer can be in.
type States uint8

// The states of timers. A timer that is due and has no attempt in progress is waiting.
const (
	Waiting States = 1 << iota
	Running
	Dead
)

// index has the timers in the order of their keys, those of each state by themselves. A state that nobody lists has no
// index, and takes neither memory nor time for it: the first call of Index begins it, and from then on each change keeps
// it up to date.
type index struct {
	orders [3]order // by the number of the bit of the state
	begun  bool
	whole  bool
	next   uint32 // Invariant: until whole, all timers in records below it are listed
}

func (x *index) of(st States) *order { return &x.orders[bits.TrailingZeros8(uint8(st))] }

// Index adds the timers of n more records to the index, and reports whether all are in it. Until then, Ordered must not
// be called.
func (s *State) Index(n int) bool {
	x := &s.index
	x.begun = true
	for ; !x.whole && n > 0; n-- {
		if s.records.timer(x.next) != nil {
			s.list(x.next)
		}
		x.next++
		x.whole = x.next >= s.records.next
	}
	return x.whole
}

// list puts a timer into the index, in the place of its state. It is called after each change of a timer, and costs
// nothing if neither key nor state have changed.
func (s *State) list(i uint32) {
	if !s.index.begun {
		return
	}
	r := s.records.at(i)
	if st := s.states(i, r); r.listed != st {
		s.unlist(i, r)
		s.index.of(st).insert(&s.records, i)
		r.listed = st
	}
}

// unlist takes a timer out of the index. It is called before the timer is removed.
func (s *State) unlist(i uint32, r *record) {
	if r.listed != 0 {
		s.index.of(r.listed).remove(&s.records, i)
		r.listed = 0
	}
}

// states returns the state of a timer, as Listed does.
func (s *State) states(i uint32, r *record) States {
	switch {
	case r.state == dead:
		return Dead
	case r.state == running, s.Left(Ref(i)) != 0:
		return Running
	}
	return Waiting
}

// Ordered appends to refs the first timers, in the order of their keys, that are in one of the states, and whose keys
// begin with prefix and are not less than from. It appends at most n.
func (s *State) Ordered(states States, prefix, from string, n int, refs []Ref) []Ref {
	from = max(from, prefix)
	begin, lists := len(refs), 0
	for ; states != 0; states &= states - 1 {
		before := len(refs)
		s.index.of(states).walk(&s.records, from, func(i uint32) bool {
			more := len(refs)-before < n && strings.HasPrefix(s.records.at(i).key(), prefix)
			if more {
				refs = append(refs, Ref(i))
			}
			return more
		})
		if len(refs) > before {
			lists++
		}
	}
	if found := refs[begin:]; lists > 1 {
		slices.SortFunc(found, func(a, b Ref) int {
			return cmp.Compare(s.records.at(uint32(a)).key(), s.records.at(uint32(b)).key())
		})
	}
	return refs[:min(len(refs), begin+n)]
}
