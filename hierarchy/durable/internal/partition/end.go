package partition

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// This file shows how a partition ends.

// Shutdown begins no further attempt, leaves the attempts that have tokens to the next owner, and waits for the running
// handlers until ctx is done. Then it cancels the contexts of the handlers that still run. At last it writes what is in
// the queue, and a Close, and waits for the calls of OnDead that follow from that. If ctx ended before all this was
// done, Shutdown returns an error.
func (p *Partition) Shutdown(ctx context.Context) error {
	return p.shut(ctx, core.ErrClosed)
}

// shut does what Shutdown describes. Calls that are no longer written, and calls that are made later, fail with the
// error why.
func (p *Partition) shut(ctx context.Context, why error) error {
	err := p.firer.drain(ctx)
	left := p.end(ctx, why)
	if err == nil { // the last calls may have ended attempts by their tokens, so that OnDead is called
		err = p.firer.awaitIdle(ctx)
	}
	switch {
	case left == nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), left)
	}
	return left
}

// Close is Shutdown without waiting for handlers.
func (p *Partition) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Shutdown(ended)
}

// closeTime limits the time for the last frame and the mark after the end of Shutdown's context.
const closeTime = time.Second

// end writes what is in the queue, and ends the writer. It returns an error if it could not write everything.
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
	p.firer.withdrawAll()
	p.writer.abandon()
	return p.writer.left
}

// abandonLate abandons the writer after closeTime, unless it has ended by then.
func (p *Partition) abandonLate() {
	select {
	case <-time.After(closeTime):
		p.writer.abandon()
	case <-p.writer.stopped:
	}
}

// Settle waits until the attempts that are in progress now have ended, or until ctx is done. Other attempts begin
// meanwhile, so that one slow handler does not hold up the timers of the partition.
func (p *Partition) Settle(ctx context.Context) {
	for _, a := range p.firer.underWay() {
		select {
		case <-a.Of.(*attempt).ctx.Done(): // the attempt has ended, or was superseded
		case <-p.writer.stopped:
			return
		case <-ctx.Done():
			return
		}
	}
}

// HandOver is Shutdown for a log that another process is about to take over; that process writes the next mark. Later
// calls fail with ErrNotOwner.
func (p *Partition) HandOver(ctx context.Context) error {
	p.marks.leave()
	return p.shut(ctx, ErrNotOwner)
}

// Release is Shutdown for a log that another process may take over later.
func (p *Partition) Release(ctx context.Context) error { return p.shut(ctx, ErrNotOwner) }

// Abandon ends everything at once and writes nothing, because this process is not the owner any more. It cancels the
// contexts of handlers. Calls that were not written fail with ErrNotOwner.
func (p *Partition) Abandon() {
	p.marks.leave()
	p.firer.halt()
	p.firer.cancel()
	p.shutting.Do(func() { p.writer.queue.close(ErrNotOwner) })
	p.writer.abandon()
	<-p.writer.stopped
	p.firer.close()
	p.firer.withdrawAll()
}

// Stopped returns a channel that is closed when nothing is written any more: the partition was ended, or the log has
// another owner.
func (p *Partition) Stopped() <-chan struct{} { return p.writer.stopped }

// Break is Abandon for a log that seems to be damaged. It first writes the mark, which determines how far the log must
// reach. Calls don't get ErrDamaged here: whoever reads the log next finds out whether it is damaged.
func (p *Partition) Break() {
	if err := p.marks.write(); err != nil {
		p.marks.warn(markFailed, err)
	}
	p.Abandon()
}
