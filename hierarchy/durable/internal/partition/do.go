package partition

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
)

// Do has the operations of c take hold, and waits until they are in the log, or until ctx is
// done. With ErrUnavailable and the context's error they may take hold, or not. With other errors
// they don't: with ErrNotOwner they can be asked for again, of the partition's owner.
func (p *Partition) Do(ctx context.Context, c *Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.From(ctx)
	if err := p.Start(c); err != nil {
		return err
	}
	return c.Wait(ctx)
}

// Start begins what Do does, and does not wait. Unless it returns an error, Wait must follow.
func (p *Partition) Start(c *Call) error {
	c.begin(p.time.now())
	if err := p.checkSize(c); err != nil {
		return err
	}
	if !p.cfg.Tenure() {
		return errTenure
	}
	return p.queue.put(item{kind: asked, call: c})
}

// checkSize is ErrTooLarge for a call that has no room in a frame.
func (p *Partition) checkSize(c *Call) error {
	if len(c.Asks) > MaxOps || c.size > p.cfg.Log.MaxMessage()-frame.Overhead {
		return fmt.Errorf("%w: %d operations of about %d bytes", ErrTooLarge, len(c.Asks), c.size)
	}
	return nil
}

// Wait waits for the answer, or until ctx is done. Its errors are those of Do.
func (c *Call) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		if c.answered.CompareAndSwap(false, true) {
			return ctx.Err() // what the writer has not seen yet, it leaves out
		}
		<-c.done // the answer is being given
		return c.err
	}
}

// begin makes c ready to be asked. Durations count from now, in the owner's time.
func (c *Call) begin(now int64) {
	c.size = 0
	for i := range c.Asks {
		a := &c.Asks[i]
		if a.counts() {
			a.Due = instant.Plus(now, int64(a.In))
		}
		c.size += len(a.Key) + len(a.Value) + opBytes
	}
	if c.Request.named() {
		c.size += c.answerSize()
	}
	for len(c.Took) < len(c.Asks) {
		c.Took = append(c.Took, false)
	}
	c.err, c.result = nil, nil
	c.answered.Store(false)
	if c.done == nil {
		c.done = make(chan struct{}, 1)
	}
}
