package partition

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Get is the timer of a key and the time until it is due, at least 0.
func (p *Partition) Get(key []byte) (value string, remaining time.Duration, ok bool, err error) {
	p.mu.Lock()
	t, ref, ok := p.state.Find(key)
	ok = ok && !t.Dead
	if ok {
		until, wall := p.state.Until(ref)
		now := p.time.now()
		if wall {
			now = p.time.wall()
		}
		value, remaining = t.Value, time.Duration(max(0, instant.Minus(until, now)))
	}
	p.mu.Unlock()
	return value, remaining, ok, p.held()
}

var (
	errTenure = fmt.Errorf("%w: its lease has ended", ErrNotOwner)
	// errLate is for what is in the log, by an owner that may not say so any more.
	errLate = fmt.Errorf("%w: the lease ended before the answer", ErrUnavailable)
)

// held is an error if this process is not the owner any more. Whoever reads asks afterwards.
func (p *Partition) held() error {
	p.queue.mu.Lock()
	err := p.queue.closed // reading goes on while the log does not answer
	p.queue.mu.Unlock()
	if err == nil && !p.cfg.Tenure() {
		err = errTenure
	}
	return err
}

// Len is the number of timers that are not dead.
func (p *Partition) Len() (int, error) {
	p.mu.Lock()
	n := p.state.Len()
	p.mu.Unlock()
	return n, p.held()
}

// All calls f for all timers that are dead, or all that are not, until it is false.
func (p *Partition) All(dead bool, f func(state.Timer) bool) error {
	p.mu.Lock()
	c := p.state.Cursor()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		c.Close()
		p.mu.Unlock()
	}()
	for more := true; more; {
		var some []state.Timer
		p.mu.Lock()
		more = c.Take(scanBatch, func(_ state.Ref, t state.Timer) {
			if t.Dead == dead {
				some = append(some, t)
			}
		})
		p.mu.Unlock()
		if err := p.held(); err != nil {
			return err
		}
		for _, t := range some {
			if !f(t) {
				return nil
			}
		}
	}
	return nil
}

// scanBatch is how many records All looks at under one hold of the lock.
const scanBatch = 128
