package partition

import (
	"context"
	"fmt"
	"time"
)

// markSoon has the mark be written within MarkEvery. While nothing is written, nothing is done. mu
// is held.
func (p *Partition) markSoon() {
	if p.marked {
		return
	}
	p.marked = true
	p.markTimer = time.AfterFunc(p.cfg.MarkEvery, func() {
		p.mu.Lock()
		p.marked = false
		p.mu.Unlock()
		_ = p.markNow()
	})
}

// markTime is how long setting a mark may take.
const markTime = 5 * time.Second

// markNow writes the mark of the last frame that was acknowledged.
func (p *Partition) markNow() error {
	p.marking <- true
	defer func() { <-p.marking }()
	p.mu.Lock()
	m := p.acked
	p.mu.Unlock()
	if m == p.lastMark {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.writing, markTime)
	defer cancel()
	if err := p.cfg.Log.SetMark(ctx, m); err != nil {
		p.cfg.Logger.Warn("durable: the mark was not written", "partition", p.cfg.Partition, "err", err)
		return p.because(fmt.Errorf("the mark was not written: %v", err))
	}
	p.lastMark = m
	return nil
}
