package partition

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// itemKind is what is to be written.
type itemKind uint8

const (
	called  itemKind = iota // the operations of call
	begun                   // an attempt begins that has to be written before
	ended                   // the handler has returned nil
	failed                  // the handler has failed
	expired                 // the timer has been dead for long enough
	barrier                 // nothing: job is released when all before is settled, or was given up
	closed                  // nothing follows
)

// item is something for the writer.
type item struct {
	kind  itemKind
	call  *Call
	job   job
	wait  time.Duration   // until the next attempt, after a failed one
	last  bool            // after a failed one: the timer is dead
	cause error           // of the failure
	text  []byte          // if last: that of the cause
	ended func(took bool) // if not nil, called instead of job.release when the item is in the log, or won't be. It does not block
}

// end reports to its owner whether the item, which is no call and no attempt that begins, is in the log.
func (it *item) end(took bool) {
	if it.ended != nil {
		it.ended(took)
		return
	}
	it.job.release()
}

// queue is what the writer has not taken yet.
type queue struct {
	mu     mutex
	items  []item
	rest   []item      // taken, and not in the frame that is under way
	closed error       // of further calls, for good
	doubt  error       // of further calls, until the log answers again
	over   bool        // the writer has ended
	signal wait.Signal // there are items
}

// put adds an item, unless the queue is closed.
func (q *queue) put(it item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it.kind == called {
		if err := q.refusal(); err != nil {
			return err
		}
	}
	if q.over || it.kind == barrier && q.doubt != nil {
		it.end(false)
		return nil
	}
	q.items = append(q.items, it)
	if len(q.items) == 1 {
		q.signal.Set()
	}
	return nil
}

// refusal returns the error of further calls, or nil.
func (q *queue) refusal() error {
	q.mu.assertHeld()
	if q.closed != nil {
		return q.closed
	}
	return q.doubt
}

// why returns the error of further calls for good, once the queue is closed.
func (q *queue) why() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		return ErrClosed
	}
	return q.closed
}

// leave notes which of the taken items have to wait for the next frame.
func (q *queue) leave(rest []item) {
	if len(rest) == 0 && len(q.rest) == 0 { // only the writer writes it
		return
	}
	q.mu.Lock()
	q.rest = rest
	q.mu.Unlock()
}

// any reports whether there are items.
func (q *queue) any() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) > 0
}

// take takes all items. It gives room to the queue for the next ones.
func (q *queue) take(room []item) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	clear(room)
	q.items = room[:0]
	return items
}

// close makes further calls fail with err, for good.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		q.closed = err
	}
}

// end closes the queue, and returns what is left.
func (q *queue) end(err error) []item {
	q.close(err)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	return q.items
}

// unanswered makes further calls fail with err until answered, and ends those that wait.
func (q *queue) unanswered(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.doubt = err
	for _, items := range [][]item{q.rest, q.items} {
		for _, it := range items {
			switch it.kind {
			case called:
				it.call.answer(err)
			case barrier:
				it.job.release()
			}
		}
	}
}

// isOver reports whether the writer has ended. What it left was released after that.
func (q *queue) isOver() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.over
}

func (q *queue) answered() {
	q.mu.Lock()
	q.doubt = nil
	q.mu.Unlock()
}

// inDoubt reports whether calls have been given up, and the log has not answered since.
func (q *queue) inDoubt() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.doubt != nil
}

// waits reports whether calls may be waiting that are not in the frame under way, and were not given up.
func (q *queue) waits() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.doubt == nil && len(q.rest)+len(q.items) > 0
}
