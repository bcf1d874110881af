package state

import (
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Remember is how long answers are remembered. A caller tries again for a minute.
const Remember = 5 * time.Minute

// Request names a caller's request. The zero Request names none.
type Request struct{ Caller, Serial uint64 }

// Answer is what a request was answered with.
type Answer struct {
	When  int64  // the time of the frame with the answer
	Took  string // a bit for each operation, the lowest of the first byte first. Empty: there was no room
	Value string // that a Remove took out, if it was asked for alone
}

// remembered is an answer in the log.
type remembered struct {
	Request
	Answer
	home uint64 // the number of the frame where it was written last
}

// size is about what the answer takes in the log.
func (r *remembered) size() int64 { return int64(len(r.Took)+len(r.Value)) + overhead }

// requests are the answers that are remembered.
type requests struct {
	byID  map[Request]*remembered
	order []*remembered // Invariant: sorted by When, after Build
	bytes int64         // the sum of their sizes
}

// put remembers an answer that is in the log. While the log is read, an older one of the same
// request can be there still, which its owner had forgotten.
func (q *requests) put(h *frame.Header, op *frame.Op) error {
	id := Request{op.Caller, op.Serial}
	if r := q.byID[id]; r != nil {
		if r.When == op.When {
			r.home = h.Number
			return nil
		}
		if op.When-r.When < int64(Remember) {
			return senseless(op, "the request has another answer")
		}
		q.order = slices.DeleteFunc(q.order, func(o *remembered) bool { return o == r })
		q.forget(r)
	}
	r := &remembered{id, Answer{op.When, string(op.Answers), string(op.Value)}, h.Number}
	if q.byID == nil {
		q.byID = make(map[Request]*remembered)
	}
	q.byID[id] = r
	q.order = append(q.order, r)
	q.bytes += r.size()
	return nil
}

func (q *requests) forget(r *remembered) {
	delete(q.byID, r.Request)
	q.bytes -= r.size()
}

// expire forgets what was answered too long ago.
func (q *requests) expire(now int64) {
	n := 0
	for n < len(q.order) && now-q.order[n].When >= int64(Remember) {
		q.forget(q.order[n])
		n++
	}
	clear(q.order[:n])
	if q.order = q.order[n:]; len(q.order) == 0 {
		q.order, q.byID = nil, nil
	}
}

// sort is called when the log was read. What trimming has written again comes late in it.
func (q *requests) sort() {
	slices.SortStableFunc(q.order, func(a, b *remembered) int {
		switch {
		case a.When < b.When:
			return -1
		case a.When > b.When:
			return 1
		}
		return 0
	})
}

// Answer is the answer that a request has had.
func (s *State) Answer(id Request) (a Answer, ok bool) {
	r := s.requests.byID[id]
	if r == nil {
		return a, false
	}
	return r.Answer, true
}

// AnswerHome tells whether the answer of a request was last written in frame home.
func (s *State) AnswerHome(id Request, home uint64) bool {
	r := s.requests.byID[id]
	return r != nil && r.home == home
}

// Answers is how many are remembered.
func (s *State) Answers() int { return len(s.requests.byID) }

// KeepAnswer is the operation that writes an answer, which must be remembered, again.
func (s *State) KeepAnswer(id Request) frame.Op {
	a := s.requests.byID[id].Answer
	return a.Op(id)
}

// Op is the operation that writes an answer.
func (a *Answer) Op(id Request) frame.Op {
	return frame.Op{Kind: frame.Request, Caller: id.Caller, Serial: id.Serial, When: a.When,
		Answers: []byte(a.Took), Value: []byte(a.Value)}
}
