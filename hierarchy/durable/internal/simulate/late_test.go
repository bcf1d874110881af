package simulate

import (
	"bytes"
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
	if fired.After(p.leased) {
		return true
	}
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

// connectedTable is a process's connection to the table. It knows when the lease may have ended.
type connectedTable struct {
	*memtable.Store
	p     *worker
	value []byte    // of the last renewal
	sent  time.Time // when its first copy was sent: the lease counts from there
}

func (c *connectedTable) Put(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	if !strings.HasPrefix(key, "member.") {
		return c.Store.Put(ctx, key, value, last)
	}
	if !bytes.Equal(value, c.value) {
		c.value, c.sent = value, time.Now()
	}
	revision, err := c.Store.Put(ctx, key, value, last)
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	switch now := time.Now(); {
	case errors.Is(err, storage.ErrRefused) && now.Before(c.p.leased): // the lease does not count until the next renewal
		c.p.leased = now
	case err == nil:
		if c.p.leased.Before(now) {
			c.p.holdUps = append(c.p.holdUps, holdUp{c.p.leased, now, everywhere})
		}
		c.p.leased = c.sent.Add(7 * lease / 10)
	}
	return revision, err
}
