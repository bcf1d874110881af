package remote

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Moment is the time at which a call began.
type Moment struct {
	real    time.Time     // the beginning of the call's time limit
	elapsed time.Duration // the beginning of the call's durations, by the clock of the timers
}

// Now returns the present moment.
func (c *Client) Now() Moment { return Moment{time.Now(), c.cfg.Clock.Elapsed()} }

// request is a call that waits for its answer. Its lane's mu guards it.
type request struct {
	call       *core.Call
	begun      Moment
	ops, size  int
	prev, next *request // the neighbours in the queue
	message    *message
	ended      bool
	alone      bool // whether it must be alone in its message
	err        error
	done       chan struct{} // of capacity 1
}

// newRequest returns the request of a call that began at that moment.
func (c *Client) newRequest(call *core.Call, begun Moment) *request {
	a, _ := c.requests.Get().(*request)
	if a == nil {
		a = &request{done: make(chan struct{}, 1)}
	}
	*a = request{done: a.done, call: call, begun: begun, ops: len(call.Ops), size: partSize(call.Ops)}
	return a
}

// end ends a with an answer. Only the first answer counts.
func (a *request) end(err error) {
	if a.ended {
		return
	}
	a.ended, a.err = true, err
	if a.message != nil {
		a.message.wanted--
	}
	a.done <- struct{}{}
}

// queue holds the calls that are not in a message yet, the oldest first. A caller waits in Do for each of these calls,
// and takes it out of the queue when the caller's context ends. So the queue needs no other limit.
type queue struct{ first, last *request }

// push puts a call behind those that began before it. Most calls come in that order; some have waited for the owner's
// clock.
func (q *queue) push(a *request) {
	before := q.last
	for before != nil && before.begun.real.After(a.begun.real) {
		before = before.prev
	}
	q.insert(a, before)
}

// putBack is push for a call that was taken out before. Most others that wait have begun later.
func (q *queue) putBack(a *request) {
	var before *request
	for next := q.first; next != nil && next.begun.real.Before(a.begun.real); next = next.next {
		before = next
	}
	q.insert(a, before)
}

// insert puts a call behind another one, or first if before is nil.
func (q *queue) insert(a, before *request) {
	if a.prev, a.next = before, q.first; before != nil {
		a.next = before.next
		before.next = a
	} else {
		q.first = a
	}
	if a.next != nil {
		a.next.prev = a
	} else {
		q.last = a
	}
}

func (q *queue) remove(a *request) {
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		q.first = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	} else {
		q.last = a.prev
	}
	a.prev, a.next = nil, nil
}

// message is a list of requests that are sent together, under one id.
type message struct {
	serial   uint64
	requests []*request
	wanted   int           // the number of requests that have not ended
	data     []byte        // the bytes of the message
	made     time.Duration // the moment from which its durations count, by the clock of the timers
	clocks   reading       // the clocks when the first copy was sent
	sent     time.Time     // when its latest copy was sent
	sendAt   time.Time     // when the next copy will be sent
	pause    wait.Backoff  // the pause after a copy that had an answer
	quiet    wait.Backoff  // the pause after a copy that had no answer
	why      error         // the reason why there is no answer
	doubt    bool          // a copy has had no clear answer, so it may have been committed
	passing  bool          // another process has answered a copy, which may be committed later by the owner
	lost     bool          // the owner may have forgotten that the message was committed
}
