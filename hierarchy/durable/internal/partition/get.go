package partition

import (
	"fmt"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Get returns the value of a key's timer, and the remaining time until it is due, which is 0 if it is overdue.
func (p *Partition) Get(key []byte) (value string, remaining time.Duration, ok bool, err error) {
	p.mu.Lock()
	t, ref, ok := p.core.State.Find(key)
	ok = ok && !t.Dead
	if ok {
		now, wall := p.time.both()
		until := core.Until(p.core.State, ref, now, wall)
		value, remaining = t.Value, time.Duration(max(0, state.Sub(until, now)))
	}
	p.mu.Unlock()
	return value, remaining, ok, p.held()
}

var (
	errTenure = fmt.Errorf("%w: its lease has ended", ErrNotOwner)
	// errLate is for a call that is in the log but that the owner may not confirm any more.
	errLate = fmt.Errorf("%w: the lease ended before the answer", ErrUnavailable)
)

// held returns an error if this process may no longer answer as the owner. It is called after reading.
func (p *Partition) held() error {
	p.writer.queue.mu.Lock()
	err := p.writer.queue.closed // reading goes on while the log does not answer
	p.writer.queue.mu.Unlock()
	if err == nil && !p.cfg.Tenure() {
		err = errTenure
	}
	return err
}

// Len returns the number of timers that are not dead.
func (p *Partition) Len() (int, error) {
	p.mu.Lock()
	n := p.core.State.Len()
	p.mu.Unlock()
	return n, p.held()
}

// All calls f for all dead timers or, if dead is false, for all other timers, until f returns false.
func (p *Partition) All(dead bool, f func(state.Timer) bool) error {
	var some []state.Timer
	var err error
	scan(&p.mu, p.core.State, func(_ state.Ref, t state.Timer) {
		if t.Dead == dead {
			some = append(some, t)
		}
	}, func() bool {
		if err = p.held(); err != nil || slices.ContainsFunc(some, func(t state.Timer) bool { return !f(t) }) {
			return false
		}
		some = nil
		return true
	})
	return err
}

// scan calls f for all timers, a batch at a time, with mu held. After each batch it calls next without mu, and ends if
// next returns false.
func scan(mu *mutex, s *state.State, f func(state.Ref, state.Timer), next func() bool) {
	mu.Lock()
	defer mu.Unlock()
	c := s.Cursor()
	defer c.Close()
	unlocked := func() bool {
		mu.Unlock()
		defer mu.Lock()
		return next()
	}
	for more := true; more; {
		more = c.Take(scanBatch, f)
		more = unlocked() && more
	}
}

// Cursor is the position at which a Page begins. The zero Cursor is the beginning.
type Cursor struct {
	Epoch       uint64
	Next, Limit uint32
}

// Page calls f for the dead timers or, if dead is false, for all other timers, beginning at a Cursor. It ends when f
// returns false or when it has looked at pageRecords records. It returns the Cursor of the next Page, which begins with
// the timer for which f returned false, or the zero Cursor at the end. With a Cursor of another epoch it starts over,
// since each owner numbers its records itself. A timer that is pending throughout is passed to f exactly once.
func (p *Partition) Page(dead bool, c Cursor, f func(state.Timer) bool) (Cursor, error) {
	full := false
	for n := 0; n < pageRecords && !full; n += scanBatch {
		p.mu.Lock()
		if c.Epoch != p.core.Epoch {
			c = Cursor{p.core.Epoch, 0, p.core.State.Records()}
		}
		to := min(c.Limit, c.Next+scanBatch)
		c.Next = p.core.State.Walk(c.Next, to, func(_ state.Ref, t state.Timer) bool {
			full = t.Dead == dead && !f(t)
			return !full
		})
		p.mu.Unlock()
		if c.Next >= c.Limit {
			return Cursor{}, p.held()
		}
	}
	return c, p.held()
}

// pageRecords is the largest number of records that one call of Page looks at.
const pageRecords = 1 << 13

// scanBatch is the number of records that are read while the lock is held once.
const scanBatch = 128

// Time returns the time of the last frame. A process that sends its first requests to this partition numbers them from
// that time on.
func (p *Partition) Time() (int64, error) {
	p.mu.Lock()
	t := p.core.Head.Time
	p.mu.Unlock()
	return t, p.held()
}

// Remembers reports whether a caller has sent requests and has not been forgotten since.
func (p *Partition) Remembers(caller uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.State.Remembers(caller)
}
