package remote

import (
	"encoding/binary"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// read writes the answer to a request that changes nothing to s.room.
func (s *Server) read(k kind, body []byte) error {
	s.room = startAnswer(s.room[:0], done)
	switch k {
	case getKind:
		value, remaining, ok, err := s.owner.Get(body)
		s.room = appendFound(s.room, found{value, remaining, ok})
		return err
	case lookupKind:
		t, ok, err := s.owner.Lookup(body)
		if ok {
			s.room = t.Append(s.room)
		}
		return err
	case lenKind:
		n, err := s.owner.Len()
		s.room = binary.AppendUvarint(s.room, uint64(n))
		return err
	case listKind:
		return s.page(body)
	case exportKind:
		return s.export(body)
	case sortedKind:
		return s.sorted(body)
	case timeKind:
		t, err := s.owner.Time()
		s.room = appendTime(appendMoment(s.room, s.owner.Moment()), t)
		return err
	}
	return errKind
}

// page answers with some of the timers, and with the position at which the next page begins.
func (s *Server) page(body []byte) error {
	c := newCutter(body)
	dead, from := c.Byte(), c.cursor()
	if err := c.end(); err != nil || dead > 1 {
		return errMessage
	}
	var timers []byte
	most := min(pageBytes, s.cfg.Bus.MaxMessage()-headers)
	next, err := s.owner.Page(dead == 1, from, func(t state.Timer) bool {
		if len(timers) > 0 && len(timers)+t.Size() > most {
			return false
		}
		timers = t.Append(timers)
		return true
	})
	s.room = append(appendCursor(s.room, next), timers...)
	return err
}
