package partition

import (
	"context"
	"fmt"
	"time"
)

// Shutdown dispatches nothing any more, waits for the handlers until ctx is done, ends the
// contexts of those that are left, writes what was asked for until now, and a Close. If ctx ended
// before all this was done, its error is returned.
func (p *Partition) Shutdown(ctx context.Context) error {
	return p.shut(ctx, ErrClosed)
}

// shut is Shutdown. Calls that are not written, and those that come, end with why.
func (p *Partition) shut(ctx context.Context, why error) error {
	err := p.firer.drain(ctx)
	left := p.end(ctx, why)
	switch {
	case left == nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), left)
	}
	return left
}

// Close is Shutdown that does not wait for handlers.
func (p *Partition) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Shutdown(ended)
}

// closeTime is how long the last frame and the mark may take after the end of Shutdown's context.
const closeTime = time.Second

// end writes what is in the queue, and ends the writer. It returns what could not be done.
func (p *Partition) end(ctx context.Context, why error) error {
	p.shutting.Do(func() {
		p.writer.queue.close(why)
		_ = p.writer.queue.put(item{kind: closed})
	})
	cancel := func() {}
	if _, ok := ctx.Deadline(); !ok {
		ctx, cancel = context.WithTimeout(ctx, p.cfg.EndTime-closeTime)
	}
	defer cancel()
	defer context.AfterFunc(ctx, p.abandonLate)()
	<-p.writer.stopped
	p.firer.close()
	p.writer.abandon()
	return p.writer.left
}

// abandonLate ends the writer if it does not end by itself soon.
func (p *Partition) abandonLate() {
	select {
	case <-time.After(closeTime):
		p.writer.abandon()
	case <-p.writer.stopped:
	}
}
