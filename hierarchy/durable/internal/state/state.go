// Package state holds the timers of a log in memory: by key, and by when they are due. It applies the operations of
// frames that were read from the log or have just been written to it. It has no lock, no clock and no goroutine.
package state

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// errSense is for an operation that can't follow the operations before it.
var errSense = errors.New("an operation makes no sense")

// Ref identifies a timer by the number of its record. It is valid as long as the key of the timer has a timer.
type Ref uint32

// State holds the timers of a partition.
type State struct {
	records records
	table   table
	// One wheel is for the owner's time, the other for wall time. Until Build they are empty.
	wheels [2]*hierarchy.Driven[uint32]
	graves *hierarchy.Driven[uint32] // dead timers, in the owner's time, unless they are kept for ever
	index  index
	built  bool
	owned  bool // see Own

	live  int   // records with a timer
	dead  int   // the number of dead timers
	bytes int64 // the sum of the sizes of all timers

	requests  requests
	snapshots []*Snapshot
	extras    map[uint32]*Extra // Invariant: no value is the zero Extra
	parked    map[uint32]parked // from Build on: paused timers that wait
	keepDead  int64

	begun map[uint32]struct{} // timers with an attempt of which the log has the begin but not the end
	// next is when the next attempt of a timer is due, if that is not its due time: until Build for all that wait, and then
	// for those whose attempt is due or in progress.
	next  map[uint32]int64
	left  map[uint32]uint64   // the names of attempts that were left. Their timers wait, or are due again
	fails map[uint32]struct{} // running timers whose last attempt is the one in the log, which was left and is about to fail

	// Superseded, if not nil, is called for a timer that was set, moved or removed while its attempt was in progress.
	Superseded func(Ref)
	// Withdrawn, if not nil, is called for a timer that was held when it was set, moved or removed.
	Withdrawn func(Ref)

	clean bool // the last operation was a Close
}

// New returns an empty State.
func New() *State {
	return &State{
		table:    table{seed: maphash.MakeSeed()},
		wheels:   [2]*hierarchy.Driven[uint32]{new(hierarchy.Driven[uint32]), new(hierarchy.Driven[uint32])},
		graves:   new(hierarchy.Driven[uint32]),
		requests: requests{remember: int64(Remember)},
		extras:   make(map[uint32]*Extra),
		parked:   make(map[uint32]parked),
		begun:    make(map[uint32]struct{}),
		next:     make(map[uint32]int64),
		left:     make(map[uint32]uint64),
		fails:    make(map[uint32]struct{}),
	}
}

// Len returns the number of timers that are not dead, and Dead the number of dead timers. Bytes returns about the
// number of bytes that all timers and the remembered answers take in the log.
func (s *State) Len() int     { return s.live - s.dead }
func (s *State) Dead() int    { return s.dead }
func (s *State) Bytes() int64 { return s.bytes + s.requests.bytes }

// Clean reports whether the last operation was a Close.
func (s *State) Clean() bool { return s.clean }

// find returns the record of a key, or 0.
func (s *State) find(key []byte) (i, hash uint32) {
	hash = s.table.hash(key)
	return s.table.find(&s.records, hash, key), hash
}

// Apply applies an operation. It is not an error if the key has no timer, since the frame in which the timer was set
// may have been trimmed. A later frame then has a Keep of the timer.
func (s *State) Apply(h *frame.Header, op *frame.Op) error {
	s.clean = op.Kind == frame.Close
	switch op.Kind {
	case frame.Close:
		s.stopped()
		return nil
	case frame.Request:
		s.requests.put(h, op)
		return nil
	case frame.Takeover:
		return nil
	case frame.Set, frame.SetAt:
		s.set(h, op)
		return nil
	case frame.Keep:
		return s.keep(h, op)
	case frame.Import:
		return s.replace(h, op)
	}
	i, _ := s.find(op.Key)
	if i == 0 {
		return nil
	}
	s.preserve(i)
	r := s.records.at(i)
	switch op.Kind {
	case frame.Move, frame.MoveAt:
		if r.state == dead {
			return senseless(op, "the timer is dead")
		}
		s.move(i, r, op)
	case frame.Remove:
		s.remove(i, r)
	case frame.Pause, frame.Resume:
		return s.paused(op, i, r)
	default:
		return s.attempted(h, op, i, r)
	}
	return nil
}

// move gives a timer another due time, and another ID, and forgets its attempts and its last error.
func (s *State) move(i uint32, r *record, op *frame.Op) {
	s.leave(i, r)
	r.due, r.id, r.wall, r.attempt = op.Due, op.ID, op.Wall, 0
	e := s.extra(i)
	e.Move()
	s.setExtra(i, e)
	s.wait(i, r, op.Due)
	s.list(i)
}

func senseless(op *frame.Op, why string) error {
	return fmt.Errorf("%w: %v of %.60q: %s", errSense, op.Kind, op.Key, why)
}

// set replaces the timer of a key, or adds one if the key has none.
func (s *State) set(h *frame.Header, op *frame.Op) {
	i, hash := s.find(op.Key)
	if i == 0 {
		i = s.add(hash, h, op)
	} else {
		s.preserve(i)
		r := s.records.at(i)
		s.leave(i, r)
		s.bytes -= int64(r.size())
		s.fill(i, r, h, op)
	}
	s.wait(i, s.records.at(i), op.Due)
	s.list(i)
}

// add adds a timer in a new record.
func (s *State) add(hash uint32, h *frame.Header, op *frame.Op) uint32 {
	i := s.records.take()
	r := s.records.at(i)
	r.hash = hash
	s.fill(i, r, h, op)
	s.table.insert(&s.records, i)
	s.live++
	return i
}

// fill copies the timer of op into r. It does not set the status.
func (s *State) fill(i uint32, r *record, h *frame.Header, op *frame.Op) {
	var b strings.Builder
	b.Grow(len(op.Key) + len(op.Value))
	b.Write(op.Key)
	b.Write(op.Value)
	r.data, r.keyLen = b.String(), uint16(len(op.Key))
	r.due, r.wall, r.id, r.home, r.attempt = op.Due, op.Wall, op.ID, h.Number, op.Attempt
	s.bytes += int64(r.size())
	s.setExtra(i, extraOf(&op.More))
}

// keep applies a Keep: it adds the timer. If the key has a timer already, it must be the same timer.
func (s *State) keep(h *frame.Header, op *frame.Op) error {
	i, hash := s.find(op.Key)
	if i != 0 {
		r := s.records.at(i)
		if r.id != op.ID {
			return senseless(op, "the key has another timer")
		}
		r.home = h.Number
		return nil
	}
	i = s.add(hash, h, op)
	r := s.records.at(i)
	switch op.State {
	case frame.Dead:
		s.died(i, r, extraOf(&op.More))
	case frame.Begun:
		s.begun[i] = struct{}{}
		s.waitUntil(i, r, false, op.Next)
	case frame.Left:
		s.left[i] = op.Name
		s.waitUntil(i, r, false, op.Next)
	case frame.Postponed:
		s.waitUntil(i, r, false, op.Next)
	case frame.Waiting:
		if op.Attempt > 0 {
			s.waitUntil(i, r, false, op.Next)
		} else {
			s.wait(i, r, op.Due)
		}
	}
	s.list(i)
	return nil
}

// replace applies an Import: it replaces the timer of the key.
func (s *State) replace(h *frame.Header, op *frame.Op) error {
	if i, _ := s.find(op.Key); i != 0 {
		s.preserve(i)
		s.remove(i, s.records.at(i))
	}
	return s.keep(h, op)
}

func (s *State) remove(i uint32, r *record) {
	s.leave(i, r)
	s.unlist(i, r)
	s.bytes -= int64(r.size())
	s.setExtra(i, Extra{})
	s.live--
	s.table.remove(&s.records, i)
	s.records.give(i, s.live)
}
