package partition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// markSoon has the mark be written within MarkEvery. While nothing is written, nothing is done. mu
// is held.
func (p *Partition) markSoon() {
	if p.marked {
		return
	}
	p.marked = true
	p.markTimer = time.AfterFunc(p.cfg.MarkEvery, p.markLater)
}

// markLater is for the timer of markSoon. A mark that was not written is tried again, since no frame may
// follow that has it be written. Marks that are damaged are not: being idle costs nothing.
func (p *Partition) markLater() {
	p.mu.Lock()
	p.marked = false
	p.mu.Unlock()
	err := p.markNow()
	if err == nil || p.writing.Err() != nil { // the partition has ended meanwhile
		return
	}
	if !p.marksDamaged(err) {
		p.mu.Lock()
		p.markSoon()
		p.mu.Unlock()
	}
	p.tellMark("durable: the mark was not written", err)
}

// tellMark tells a failure now and then.
func (p *Partition) tellMark(text string, err error) {
	now := time.Now()
	p.mu.Lock()
	tell := now.Sub(p.markTold) >= markTell
	if tell {
		p.markTold = now
	}
	p.mu.Unlock()
	if tell {
		p.cfg.Logger.Warn(text, "partition", p.cfg.Partition, "err", err)
	}
}

const (
	markTell = time.Minute           // between two warnings
	markTime = 5 * time.Second       // that setting a mark may take
	endPause = 20 * time.Millisecond // before it is set again at the end, then doubled
	// markBehind is for how long marks are set again that seem to be damaged: a leader that was just elected
	// may not know of their stream yet.
	markBehind = 5 * time.Second
)

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
		return err
	}
	p.lastMark = m
	p.mu.Lock()
	p.markDoubtful = time.Time{}
	p.mu.Unlock()
	return nil
}

// marksDamaged tells whether the marks have seemed to be damaged for so long that what has answered is not only
// behind.
func (p *Partition) marksDamaged(err error) bool {
	if !errors.Is(err, journal.ErrDamaged) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.markDoubtful.IsZero() {
		p.markDoubtful = time.Now()
	}
	return time.Since(p.markDoubtful) >= markBehind
}

// markAtEnd writes the mark when no more frames are written. As long as that fails, it is tried again
// until the writer is abandoned: the marks may be without a leader for some seconds.
func (p *Partition) markAtEnd() error {
	for pause := endPause; ; pause = min(2*pause, time.Second) {
		err := p.markNow()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, context.Canceled):
			err = errCut
		case !p.marksDamaged(err) && p.writesAfter(pause):
			continue
		}
		p.cfg.Logger.Warn("durable: the mark was not written", "partition", p.cfg.Partition, "err", err)
		return p.because(fmt.Errorf("the mark was not written: %v", err))
	}
}

// writesAfter is false if the writer is abandoned before d has passed.
func (p *Partition) writesAfter(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.writing.Done():
		return false
	}
}
