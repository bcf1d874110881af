package simulate

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// A timer is late only if something holds its owner up: it stands still, its lease has ended, its log leaves an append in
// doubt, or handlers take all its places.

// holdUp is a time in which something held a process up in a partition, or in all.
type holdUp struct {
	from, to time.Time
	at       int // or one of these
}

const (
	everywhere = -1
	standstill = -2 // even the clock of the timers stood still
)

// heldUp records that something has held a process up since a time.
func (p *worker) heldUp(from time.Time, at int) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.holdUps = append(p.holdUps, holdUp{from, time.Now(), at})
}

// places is how many handlers a process runs at once.
const places = 16

// takePlace records that a handler runs. The function that it returns records that it does not any more.
func (p *worker) takePlace() (leave func()) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.running++; p.running == places {
		p.full = time.Now()
	}
	return func() {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		if p.running--; p.running == places-1 {
			p.holdUps = append(p.holdUps, holdUp{p.full, time.Now(), everywhere})
		}
	}
}

// wasHeldUp reports whether something held a process up, in a partition, when a timer was due, or its clock since the
// timer was set.
func (p *worker) wasHeldUp(at int, set, due, fired time.Time) bool {
	for _, h := range p.holdUps {
		from := due
		if h.at == standstill {
			from = set
		}
		if (h.at == at || h.at < 0) && h.from.Before(fired) && h.to.After(from) {
			return true
		}
	}
	return false
}

// checkLate checks the first attempt of a timer with a duration, by the owner that has set it.
func (w *world) checkLate(t *timer, f *firing) {
	own, ok := w.takeovers[f.Partition][f.Epoch]
	longest, due := t.in+t.in/500, t.begun.Add(t.in-t.in/500)
	if !ok || t.in == 0 || t.unknown || f.Attempt > 1 || own.at.After(t.begun) || f.clock.p.wasHeldUp(f.Partition, t.begun, due, f.at) {
		return
	}
	w.punctual++
	if late := f.at.Sub(t.answered) - longest; late > 2*prompt { // those who take it may come a second later
		w.wrong("late: %q fires %v late by owner %d, which nothing holds up", f.Key, late, f.Epoch)
	}
}

// connectedTable is a process's connection to the table. It knows when the lease may have ended.
type connectedTable struct {
	*memtable.Store
	p       *worker
	renewed time.Time // when the last renewal was sent that was acknowledged
}

func (c *connectedTable) Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	sent := time.Now()
	revision, err := c.Store.Put(ctx, key, value, last)
	if !strings.HasPrefix(key, "member.") {
		return revision, err
	}
	if errors.Is(err, storage.ErrRefused) { // the lease does not count until the next renewal
		c.renewed = time.Time{}
	}
	if err == nil {
		if end := c.renewed.Add(7 * lease / 10); end.Before(time.Now()) {
			c.p.heldUp(end, everywhere)
		}
		c.renewed = sent
	}
	return revision, err
}
