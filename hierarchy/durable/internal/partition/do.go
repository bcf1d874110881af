package partition

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
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
	if err := p.cfg.checkSize(c); err != nil {
		return err
	}
	if !p.cfg.Tenure() {
		return errTenure
	}
	return p.writer.queue.put(item{kind: asked, call: c})
}

// checkSize is ErrTooLarge for a call that has no room in a frame.
func (cfg *Config) checkSize(c *Call) error {
	if len(c.Asks) > MaxOps || c.size > cfg.Log.MaxMessage()-frame.Overhead {
		return fmt.Errorf("%w: %d operations of about %d bytes", ErrTooLarge, len(c.Asks), c.size)
	}
	return nil
}

// Time is that of the last frame. A process that asks by Requests for the first time counts them from there.
func (p *Partition) Time() (int64, error) {
	p.mu.Lock()
	t := p.writer.head.Time
	p.mu.Unlock()
	return t, p.held()
}

// Remembers tells whether a caller has asked by Requests, and was not forgotten.
func (p *Partition) Remembers(caller uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Remembers(caller)
}
