package simulate

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// connection is a process's connection to a log. It knows whether the process is in doubt about an append.
type connection struct {
	*memlog.Log
	p   *worker
	at  int
	own ownTime

	mu      sync.Mutex
	last    uint64    // of the append that was sent last
	open    bool      // nothing is known of it
	retried bool      // it was sent again
	since   time.Time // when it was sent first
	newest  time.Time // when the last frame was sent first: calls that are younger are not in the log
	doubted bool      // a copy had no answer, or one that decides nothing
	waits   time.Time // when the first append was sent since which none has had a clear answer at once, or zero
	sure    bool      // each copy was refused
	goesOn  bool      // a stranger's message was in its place, so the doubt lasts until the next append is acknowledged
	sent    []byte

	trimming int       // deletions in progress
	trimmed  time.Time // when the last one ended
}

// behind is more than a log has messages: who appends there only finds out whether it could write.
const behind = 1 << 40

func (c *connection) Append(ctx context.Context, last uint64, data []byte) error {
	if last >= behind {
		return c.Log.Append(ctx, last, data)
	}
	c.own.judge(c.p, data, c.trimmedWithin)
	c.mu.Lock()
	if c.retried = c.open && c.last == last; !c.open && !c.goesOn {
		c.since, c.doubted = time.Now(), false
	}
	if !c.retried {
		c.newest, c.sure = time.Now(), true
	}
	c.last, c.open, c.sent = last, true, data
	c.mu.Unlock()
	err := c.Log.Append(ctx, last, data)
	if err == nil {
		c.known(last, data)
		return nil
	}
	c.failed(err)
	return err
}

// failed records that a copy of an append has failed. If the log has become too small for it, and has refused all copies
// before, its fate is known.
func (c *connection) failed(err error) {
	c.mu.Lock()
	tooLarge := c.sure && errors.Is(err, storage.ErrTooLarge)
	doubt := tooLarge && c.doubted
	if c.waits.IsZero() {
		c.waits = c.since
	}
	c.doubted, c.sure = true, c.sure && (tooLarge || errors.Is(err, storage.ErrRefused))
	if tooLarge {
		c.open, c.goesOn = false, false
	}
	c.mu.Unlock()
	if doubt {
		c.p.heldUp(c.since, c.at)
	}
}

// Trim records when it ends: a frame may wait for the room that it makes.
func (c *connection) Trim(ctx context.Context, begin uint64) error {
	c.mu.Lock()
	c.trimming++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.trimming--
		c.trimmed = time.Now()
	}()
	return c.Log.Trim(ctx, begin)
}

// trimmedWithin reports whether a deletion was in progress in the last time of a length.
func (c *connection) trimmedWithin(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trimming > 0 || time.Since(c.trimmed) <= d
}

func (c *connection) Bounds(ctx context.Context) (storage.Bounds, error) {
	c.own.look(c.p)
	return c.Log.Bounds(ctx)
}

func (c *connection) Get(ctx context.Context, number uint64) ([]byte, error) {
	data, err := c.Log.Get(ctx, number)
	if err == nil {
		c.known(number-1, data)
	}
	return data, err
}

// known records that the fate of an append is known, since the log has data in its place.
func (c *connection) known(last uint64, data []byte) {
	c.mu.Lock()
	doubt := c.open && c.last == last && c.doubted
	if c.last == last {
		if c.open && !c.doubted {
			c.waits = time.Time{}
		}
		c.open, c.retried = false, false
		c.goesOn = doubt && !bytes.Equal(data, c.sent)
	}
	c.mu.Unlock()
	if doubt {
		c.p.heldUp(c.since, c.at)
	}
}

// inDoubt reports whether an append has been sent again, and its fate is still unknown.
func (c *connection) inDoubt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.retried
}

// sentSince reports whether a frame was sent first since a time.
func (c *connection) sentSince(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.newest.Before(at)
}

// unanswered reports whether an append has had no clear answer, and no append before it, for a time.
func (c *connection) unanswered(long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open && c.doubted && time.Since(c.waits) >= long
}

var _ storage.Log = (*connection)(nil)
