package partition

import (
	"context"
	"time"
)

// stopHanding has no further attempt begin.
func (p *Partition) stopHanding() {
	p.mu.Lock()
	p.firing.stopped = true
	p.mu.Unlock()
}

// stopFiring has no further attempt begin, and waits for those under way until ctx is done. Then
// it ends their contexts.
func (p *Partition) stopFiring(ctx context.Context) error {
	defer p.cancel()
	p.mu.Lock()
	p.firing.stopped = true
	idle := make(chan struct{})
	switch {
	case p.firing.active == 0:
		close(idle)
	case p.firing.idle != nil:
		idle = p.firing.idle
	default:
		p.firing.idle = idle
	}
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shutdown hands over nothing any more, waits for the handlers until ctx is done, ends the
// contexts of those that are left, writes what was asked for until now, and a Close.
func (p *Partition) Shutdown(ctx context.Context) error {
	err := p.stopFiring(ctx)
	p.end()
	return err
}

// Close is Shutdown that does not wait for handlers.
func (p *Partition) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Shutdown(ended)
}

// closeTime is how long the last frame may take.
const closeTime = 5 * time.Second

// end writes what is in the queue, and ends the writer.
func (p *Partition) end() {
	p.shutting.Do(func() {
		p.queue.close(ErrClosed)
		_ = p.queue.put(item{kind: closed})
		giveUp := time.AfterFunc(closeTime, p.abandon)
		<-p.stopped
		giveUp.Stop()
		p.alarm.Stop()
		p.abandon()
	})
	<-p.stopped
}
