package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Snapshot holds all timers of a partition as they were at one moment. Its methods must not be called concurrently. It
// must be closed.
type Snapshot struct {
	of *Partition
	in *state.Snapshot
}

// Snapshot returns the timers as they are now.
func (p *Partition) Snapshot() (*Snapshot, error) {
	p.mu.Lock()
	n := &Snapshot{p, p.core.State.Snapshot()}
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
