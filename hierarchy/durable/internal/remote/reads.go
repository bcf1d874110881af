package remote

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// reads are the requests that change nothing, so they can be retried without a RequestID.
type reads struct {
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]*question
}

// question is a read that waits for its answer.
type question struct {
	id      uint64
	at      int // the number of the partition
	answers chan []byte
	timer   *time.Timer
	end     time.Time    // when the read is given up
	pause   wait.Backoff // after an answer that allows a retry
	quiet   wait.Backoff // after a copy without any answer
	why     error        // the reason why there is no answer
}

// expect returns a new question. Answers to it are passed on from now on.
func (r *reads) expect(at int) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	q := &question{id: r.last, at: at, answers: make(chan []byte, 4), pause: newBackoff()}
	r.waiting[r.last] = q
	return q
}

func (r *reads) forget(id uint64) {
	r.mu.Lock()
	delete(r.waiting, id)
	r.mu.Unlock()
}

// answered is called with an answer, or with nil if nobody received the question.
func (r *reads) answered(id uint64, data []byte) {
	r.mu.Lock()
	q := r.waiting[id]
	r.mu.Unlock()
	if q != nil {
		q.answer(data)
	}
}

func (q *question) answer(data []byte) {
	select {
	case q.answers <- data:
	default: // q already has answers
	}
}

// moved retries the reads of a partition, as if nobody had received them.
func (r *reads) moved(at int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.waiting {
		if q.at == at {
			q.answer(nil)
		}
	}
}

// Get is Partition.Get at the owner of a partition.
func (c *Client) Get(ctx context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error) {
	b := append(startMessage(make([]byte, 0, 2+len(key)), getKind), key...)
	body, err := c.read(ctx, at, b)
	if err != nil {
		return "", 0, false, err
	}
	f, err := readFound(body)
	if err != nil {
		return "", 0, false, unavailable(err)
	}
	return f.value, f.remaining, f.ok, nil
}

// Lookup is Partition.Lookup at the owner of a partition.
func (c *Client) Lookup(ctx context.Context, at int, key []byte) (t state.Timer, ok bool, err error) {
	b := append(startMessage(make([]byte, 0, 2+len(key)), lookupKind), key...)
	body, err := c.read(ctx, at, b)
	if err != nil || len(body) == 0 {
		return t, false, err
	}
	answer := newCutter(body)
	t = state.ReadTimer(&answer.Reader)
	if err := answer.end(); err != nil {
		return t, false, unavailable(err)
	}
	return t, true, nil
}

// Len is Partition.Len at the owner of a partition.
func (c *Client) Len(ctx context.Context, at int) (int, error) {
	body, err := c.read(ctx, at, startMessage(nil, lenKind))
	if err != nil {
		return 0, err
	}
	n, size := binary.Uvarint(body)
	if size != len(body) || n > 1<<32 {
		return 0, unavailable(errMessage)
	}
	return int(n), nil
}

// Scan is Partition.All at the owner of a partition. When the owner changes, it starts over.
func (c *Client) Scan(ctx context.Context, at int, dead bool, f func(state.Timer) bool) error {
	var from partition.Cursor
	var flag byte
	if dead {
		flag = 1
	}
	for {
		body, err := c.read(ctx, at, appendCursor(append(startMessage(nil, listKind), flag), from))
		if err != nil {
			return err
		}
		page := newCutter(body)
		for from = page.cursor(); len(page.B) > 0; {
			if t := state.ReadTimer(&page.Reader); !page.Failed && !f(t) {
				return nil
			}
		}
		if err := page.end(); err != nil {
			return unavailable(err)
		}
		if from == (partition.Cursor{}) {
			return nil
		}
	}
}

// read sends a request, and repeats it until there is an answer.
func (c *Client) read(ctx context.Context, at int, data []byte) (body []byte, err error) {
	return c.readUntil(ctx, time.Now().Add(c.cfg.GiveUp), at, data)
}

// readUntil is read with another end.
func (c *Client) readUntil(ctx context.Context, end time.Time, at int, data []byte) (body []byte, err error) {
	q, begun := c.reads.expect(at), time.Now()
	defer func() {
		c.reads.forget(q.id)
		c.stats.ended(begun, err)
	}()
	q.end, q.quiet, q.why = end, c.newQuiet(), errSilent
	q.timer = time.NewTimer(c.cfg.GiveUp)
	defer q.timer.Stop()
	for {
		if err := c.accepts(ctx); err != nil {
			return nil, err
		}
		c.publishRead(q, at, data)
		body, answered, err := c.await(ctx, q)
		if answered {
			return body, err
		}
		if !time.Now().Before(q.end) {
			return nil, unavailable(q.why)
		}
	}
}

// publishRead sends a copy of a request, and sets the time for the next copy.
func (c *Client) publishRead(q *question, at int, data []byte) {
	pause := q.quiet.Next()
	err := c.cfg.Bus.Offline()
	if err == nil {
		err = c.cfg.Bus.Publish(c.lanes[at].subject, c.readReply(q.id), data)
	}
	if err != nil {
		q.why, pause = err, lastPause
	}
	q.timer.Reset(min(pause, time.Until(q.end)))
}

// await waits for an answer until it is time for the next copy.
func (c *Client) await(ctx context.Context, q *question) (body []byte, answered bool, err error) {
	for {
		select {
		case data := <-q.answers:
			body, retry, err := readAnswer(data)
			if !retry {
				return body, true, err
			}
			q.why = err
			q.timer.Reset(min(q.pause.Next(), time.Until(q.end)))
		case <-q.timer.C:
			return nil, false, nil
		case <-ctx.Done():
			return nil, true, ctx.Err()
		case <-c.ctx.Done():
			return nil, true, core.ErrClosed
		}
	}
}
