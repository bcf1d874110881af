package state

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Remember is the time for which a caller without requests is remembered, unless SetRemember sets another time. A
// caller retries for a minute.
const Remember = 5 * time.Minute

// Request identifies a request of a caller. Each caller numbers its requests.
type Request struct{ Caller, Serial uint64 }

// Answer is the answer to a request that is in the log.
type Answer struct {
	Parts string   // the encoded answers of all parts, as by frame.Answer
	When  int64    // the time of the frame with the first answer
	ID    frame.ID // see frame.Op.Kept
}

// answered is an Answer that is remembered.
type answered struct {
	serial uint64
	Answer
	home uint64 // the number of the frame in which the answer was last written
}

// bytesOf returns about the number of bytes that answers take in the log.
func bytesOf(answers []answered) (n int64) {
	for i := range answers {
		n += int64(len(answers[i].Parts)) + overhead
	}
	return n
}

// caller holds what is remembered about a caller. Nobody waits for answers with serial numbers below the floor.
type caller struct {
	floor   uint64
	last    int64      // the time of its latest request
	answers []answered // Invariant: sorted by serial, and no serial is below floor
}

// requests holds the callers that are remembered.
type requests struct {
	callers  map[uint64]*caller
	bytes    int64 // the sum of the sizes of all answers
	expires  int64 // no caller is forgotten before this time. Until Build none is forgotten at all
	remember int64 // immutable; the time for which a caller is remembered
	forgot   int64 // no caller that was forgotten had a request after this time
}

// find returns the index of the answer to a request, or where it would have to be inserted.
func (c *caller) find(serial uint64) (at int, ok bool) {
	return slices.BinarySearchFunc(c.answers, serial, func(a answered, serial uint64) int {
		return cmp.Compare(a.serial, serial)
	})
}

// put records an answer that is in the log. While the log is being read, q may still remember a caller that the owner
// of that time had already forgotten when it got the request. put recognizes that by a serial number below the floor.
func (q *requests) put(h *frame.Header, op *frame.Op) {
	c := q.callers[op.Caller]
	if c != nil && op.Serial < c.floor { // forgotten
		q.forget(op.Caller)
		c = nil
	}
	if c == nil {
		c = q.add(op)
	}
	at, ok := c.find(op.Serial)
	switch {
	case !ok:
		c.answers = slices.Insert(c.answers, at, answered{})
	case c.answers[at].When == op.When: // written again by trimming
		c.answers[at].home = h.Number
		return
	default:
		q.bytes -= bytesOf(c.answers[at : at+1])
	}
	c.answers[at] = answered{op.Serial, Answer{string(op.Answers), op.When, op.ID}, h.Number}
	q.bytes += bytesOf(c.answers[at : at+1])
	c.last = max(c.last, op.When)
	q.raise(c, op.Floor)
}

// add remembers a caller.
func (q *requests) add(op *frame.Op) *caller {
	if q.callers == nil {
		q.callers = make(map[uint64]*caller)
		q.expires = math.MaxInt64
	}
	c := &caller{last: op.When}
	q.callers[op.Caller] = c
	q.expires = min(q.expires, op.When+q.remember)
	return c
}

// raise raises the floor of a caller, and forgets the answers below it.
func (q *requests) raise(c *caller, floor uint64) {
	if c.floor = max(c.floor, floor); c.answers[0].serial >= c.floor {
		return
	}
	n, _ := c.find(c.floor)
	q.bytes -= bytesOf(c.answers[:n])
	c.answers = slices.Delete(c.answers, 0, n)
}

// forget forgets a caller.
func (q *requests) forget(id uint64) {
	q.bytes -= bytesOf(q.callers[id].answers)
	delete(q.callers, id)
}

// renew restarts the time for which callers are remembered, because the clock of this owner may be ahead of the last
// owner's, so that the time since their last requests is not known. The last owner forgot callers by the times of its
// frames; before is the time of the last of those frames. These callers are forgotten here, too: trimming may have kept
// some of their answers before they were forgotten, but not the latest.
func (q *requests) renew(before, now int64) {
	q.forgot = before - q.remember
	for id, c := range q.callers {
		if c.last <= q.forgot {
			q.forget(id)
		}
		c.last = max(c.last, now)
	}
	q.expires = now + q.remember
}

// expire forgets the callers without a request in the last time of the length remember.
func (q *requests) expire(now int64) {
	if len(q.callers) == 0 || now < q.expires {
		return
	}
	q.expires = math.MaxInt64
	for id, c := range q.callers {
		if now-c.last >= q.remember {
			q.forgot = max(q.forgot, c.last)
			q.forget(id)
		} else {
			q.expires = min(q.expires, c.last+q.remember)
		}
	}
}

// Floor returns the lowest serial number for which a caller still waits for an answer.
func (s *State) Floor(id uint64) uint64 {
	if c := s.requests.callers[id]; c != nil {
		return c.floor
	}
	return 0
}

// Answer returns the answer to a request.
func (s *State) Answer(id Request) (a Answer, ok bool) {
	if found := s.answer(id); found != nil {
		return found.Answer, true
	}
	return a, false
}

func (s *State) answer(id Request) *answered {
	c := s.requests.callers[id.Caller]
	if c == nil {
		return nil
	}
	if at, ok := c.find(id.Serial); ok {
		return &c.answers[at]
	}
	return nil
}

// AnswerHome reports whether the answer to a request was last written in frame home.
func (s *State) AnswerHome(id Request, home uint64) bool {
	a := s.answer(id)
	return a != nil && a.home == home
}

// AnswersOf returns the requests whose answers were last written in frame home.
func (s *State) AnswersOf(home uint64) (ids []Request) {
	for id, c := range s.requests.callers {
		for i := range c.answers {
			if c.answers[i].home == home {
				ids = append(ids, Request{id, c.answers[i].serial})
			}
		}
	}
	return ids
}

// KeepAnswer returns the operation that writes an answer again. The answer must be remembered.
func (s *State) KeepAnswer(id Request) frame.Op {
	a := s.answer(id)
	return frame.Op{Kind: frame.Request, Caller: id.Caller, Serial: id.Serial, Floor: s.Floor(id.Caller),
		When: a.When, Answers: []byte(a.Parts), Kept: true, ID: a.ID}
}

// Standing classifies a request without a known answer by whether it can be a copy of one that was committed.
type Standing int

const (
	// Fresh: the request has not been committed.
	Fresh Standing = iota
	// Passed: the request has not been committed since its caller is remembered, but a later one of its caller has been. It
	// must not be committed under this number, since its caller may have given it up and requested something else since.
	Passed
	// Old: the request may have been committed, and its caller forgotten since.
	Old
)

// Standing returns the Standing of a request that has no Answer. Callers number their requests from the time of an
// earlier frame of the log on, in nanoseconds, and send fewer messages than Remember has nanoseconds. So the number of
// a request is hardly greater than the time at which it was sent.
func (s *State) Standing(id Request) Standing {
	q := &s.requests
	c := q.callers[id.Caller]
	switch {
	case c == nil && int64(id.Serial) <= q.forgot+q.remember/2:
		return Old
	case c != nil && id.Serial < c.answers[len(c.answers)-1].serial:
		return Passed
	}
	return Fresh
}

// SetRemember sets how long a caller without requests is remembered. It must be called on an empty State.
func (s *State) SetRemember(d time.Duration) { s.requests.remember = int64(d) }

// Remembers reports whether a request of the caller is remembered.
func (s *State) Remembers(caller uint64) bool { return s.requests.callers[caller] != nil }
