package remote

import (
	"context"
	"encoding/binary"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// The flags of a request of sortedKind, beside the states.
const (
	allStates = state.Waiting | state.Running | state.Dead
	loggedBit = 8
)

func appendQuery(b []byte, q *partition.Query) []byte {
	flags := byte(q.States)
	if q.Logged {
		flags |= loggedBit
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(q.Limit))
	b = binary.AppendUvarint(b, uint64(q.Bytes))
	b = frame.AppendBytes(b, q.Prefix)
	return frame.AppendBytes(b, q.From)
}

// query reads what appendQuery has appended. It lowers Bytes to most.
func (c *cutter) query(most int) (q partition.Query) {
	flags := c.Byte()
	q.States, q.Logged = state.States(flags)&allStates, flags&loggedBit != 0
	limit, bytes := c.Uvarint(), c.Uvarint()
	q.Limit, q.Bytes = int(min(limit, uint64(most))), int(min(bytes, uint64(most))) // each timer has a byte
	q.Prefix, q.From = string(c.Bytes()), string(c.Bytes())
	if q.Limit == 0 || flags&^(byte(allStates)|loggedBit) != 0 {
		c.Fail()
	}
	return q
}

// sorted answers with the first timers of a query.
func (s *Server) sorted(body []byte) error {
	c := newCutter(body)
	q := c.query(min(pageBytes, s.cfg.Bus.MaxMessage()-headers))
	if err := c.end(); err != nil {
		return err
	}
	found, err := s.owner.List(&q)
	more := byte(0)
	if found.More {
		more = 1
	}
	s.room = append(s.room, more)
	for i := range found.Timers {
		s.room = found.Timers[i].Append(s.room)
	}
	return err
}

// List is Partition.List at the owner of a partition.
func (c *Client) List(ctx context.Context, at int, q *partition.Query) (f partition.Found, err error) {
	body, err := c.read(ctx, at, appendQuery(startMessage(nil, sortedKind), q))
	if err != nil {
		return f, err
	}
	in := newCutter(body)
	more := in.Byte()
	for len(in.B) > 0 {
		f.Timers = append(f.Timers, state.ReadTimer(&in.Reader))
	}
	if err := in.end(); err != nil || more > 1 {
		return partition.Found{}, unavailable(errMessage)
	}
	f.More = more == 1
	return f, nil
}
