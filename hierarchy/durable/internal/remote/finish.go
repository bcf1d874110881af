package remote

import (
	"context"
	"slices"
	"time"
)

// Finish ends further calls with ErrClosed, and waits for the answers to those that are under way, until
// ctx is done. Close should follow: what is under way still may have been committed then, so its callers would
// get ErrUnavailable.
func (c *Client) Finish(ctx context.Context) {
	c.ending.Store(true)
	for _, l := range c.lanes {
		for l.waits() {
			select {
			case <-time.After(finishPause):
			case <-c.closed:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

const finishPause = time.Millisecond // between two looks at a lane

// waits reports whether a caller waits for an answer.
func (l *lane) waits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.flying {
		if m.wanted > 0 {
			return true
		}
	}
	return slices.ContainsFunc(l.waiting[:], func(q queue) bool { return q.first != nil })
}
