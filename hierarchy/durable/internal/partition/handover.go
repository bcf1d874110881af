package partition

import (
	"context"
)

// How a partition ends whose log another process owns from now on.

// Settle waits until the attempts that are under way now have ended, or until ctx is done. Others begin
// meanwhile. So one handler that takes long does not hold up the timers of the partition.
func (p *Partition) Settle(ctx context.Context) {
	for _, a := range p.firer.underWay() {
		select {
		case <-a.ctx.Done(): // also if it was superseded
		case <-p.writer.stopped:
			return
		case <-ctx.Done():
			return
		}
	}
}

// HandOver is Shutdown for a log that another process is about to take over, which writes the next
// mark. Calls that come too late end with ErrNotOwner.
func (p *Partition) HandOver(ctx context.Context) error {
	p.marks.leave()
	return p.shut(ctx, ErrNotOwner)
}

// Release is Shutdown for a log that another process may take over later.
func (p *Partition) Release(ctx context.Context) error { return p.shut(ctx, ErrNotOwner) }

// Abandon ends everything at once, and writes nothing: this process is not the owner any more. The
// contexts of handlers end. What is not written ends with ErrNotOwner.
func (p *Partition) Abandon() {
	p.marks.leave()
	p.firer.halt()
	p.firer.cancel()
	p.shutting.Do(func() { p.writer.queue.close(ErrNotOwner) })
	p.writer.abandon()
	<-p.writer.stopped
	p.firer.close()
}

// Stopped is closed when nothing is written any more: after the end, or since the log has another
// owner.
func (p *Partition) Stopped() <-chan struct{} { return p.writer.stopped }
