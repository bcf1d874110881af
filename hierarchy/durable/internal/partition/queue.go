package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// itemKind is the kind of an item.
type itemKind uint8

const (
	called  itemKind = iota // the operations of call
	event                   // what has happened to an attempt or a dead timer
	barrier                 // writes nothing; done is set when all items before it are settled or given up
	closed                  // no item follows
)

// item is what the writer is asked to write.
type item struct {
	kind itemKind
	call *Pending
	core.Event
	// done may be nil. It is set once the event is in the log, or will certainly never be in the log, or for a barrier.
	done  wait.Signal
	ended func(took bool) // if not nil, called instead of setting done. Must not block
}

// end tells whoever has queued the item whether it is in the log. It is used neither for calls nor for the begin of an
// attempt.
func (it *item) end(took bool) {
	if it.ended != nil {
		it.ended(took)
		return
	}
	it.done.Set()
}

// request returns the call of an item, or nil.
func (it *item) request() *core.Call {
	if it.kind != called {
		return nil
	}
	return it.call.Call
}

// queue holds the items that the writer has not taken yet.
type queue struct {
	mu     mutex
	items  []item
	rest   []item      // items that the writer has taken but that are not in the frame in flight
	closed error       // the error of further calls, for good
	doubt  error       // the error of further calls until the log answers again
	over   bool        // the writer has ended
	puts   uint64      // how many items were put
	signal wait.Signal // set when there are items
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
	q.puts++
	if len(q.items) == 1 {
		q.signal.Set()
	}
	return nil
}

// refusal returns the error with which further calls fail, or nil if they are accepted.
func (q *queue) refusal() error {
	q.mu.assertHeld()
	if q.closed != nil {
		return q.closed
	}
	return q.doubt
}

// why returns the error with which all further calls fail once the queue is closed.
func (q *queue) why() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		return core.ErrClosed
	}
	return q.closed
}

// leave records the taken items that have to wait for the next frame.
func (q *queue) leave(rest []item) {
	if len(rest) == 0 && len(q.rest) == 0 { // only the writer changes rest, so it may read it without the lock
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

// take takes all items. The queue uses the memory of room for later items.
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

// end closes the queue, and returns the items that are left.
func (q *queue) end(err error) []item {
	q.close(err)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	return q.items
}

// unanswered makes further calls fail with err until answered is called, and ends the calls that wait.
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
				it.done.Set()
			}
		}
	}
}

// isOver reports whether the writer has ended. The items that are left at that moment are released only afterwards.
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

// inDoubt reports whether calls were given up and the log has not answered since.
func (q *queue) inDoubt() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.doubt != nil
}

// waiting returns how many items were put, and how many of these wait for a frame after the one in flight. If the calls
// were given up, none does.
func (q *queue) waiting() (puts, waiting uint64, givenUp bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.doubt != nil {
		return q.puts, 0, true
	}
	return q.puts, uint64(len(q.rest) + len(q.items)), false
}
