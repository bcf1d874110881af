package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An Import stores a timer as it was in another log, with its ID and its attempts. It replaces the timer of the key.

// imported returns the state of a key after an Import.
func imported(a *Op) change {
	t := a.Timer
	c := change{key: a.Key, raw: a.Value, after: live, id: t.ID, due: t.Due, wall: t.Wall, attempt: t.Attempt,
		next: t.Next, extra: t.Extra}
	if c.attempt > 0 && c.next == 0 { // the timer did not wait for a retry, so its next attempt is due at once
		c.next = t.Due
	}
	if t.Dead {
		c.after = dead
	}
	return c
}

// isStorable reports whether the text is a schedule that can be stored with a timer.
func isStorable(text string) bool {
	_, err := parseSchedule(text)
	return text == "" || err == nil && len(text) <= MaxSchedule
}

// importOf returns the Import operation that changes a key to c.
func importOf(a *Op, c *change) frame.Op {
	e := &c.extra
	op := frame.Op{Kind: frame.Import, Wall: c.wall, Attempt: c.attempt, ID: c.id, Due: c.due, Next: c.next,
		Key: a.Key, Value: a.Value, More: frame.More{Schedule: []byte(e.Schedule), Trace: []byte(e.Trace),
			Missed: e.Missed, Started: e.Started, Error: []byte(e.LastError), Failed: e.Failed}}
	switch {
	case c.after == dead:
		op.State = frame.Dead
	case c.attempt == 0 && c.next != 0:
		op.State = frame.Postponed
	}
	return op
}

// Snapshot holds all timers of a partition as they were at one moment. Its methods must not be called concurrently. It
// must be closed.
type Snapshot struct {
	of *Partition
	in *state.Snapshot
}

// Snapshot returns the timers as they are now.
func (p *Partition) Snapshot() (*Snapshot, error) {
	p.mu.Lock()
	n := &Snapshot{p, p.state.Snapshot()}
	p.mu.Unlock()
	if err := p.held(); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// Next returns the next batch of timers, or none at the end.
func (n *Snapshot) Next() (some []state.Timer) {
	for more := true; more && len(some) == 0; {
		n.of.mu.Lock()
		more = n.in.Take(scanBatch, func(t state.Timer) { some = append(some, t) })
		n.of.mu.Unlock()
	}
	return some
}

// Close releases the snapshot.
func (n *Snapshot) Close() {
	n.of.mu.Lock()
	n.in.Close()
	n.of.mu.Unlock()
}

// Export calls f for all timers as they are at the moment of the call, until f returns an error.
func (p *Partition) Export(f func(state.Timer) error) error {
	n, err := p.Snapshot()
	if err != nil {
		return err
	}
	defer n.Close()
	for some := n.Next(); len(some) > 0; some = n.Next() {
		for _, t := range some {
			if err := f(t); err != nil {
				return err
			}
		}
	}
	return nil
}
