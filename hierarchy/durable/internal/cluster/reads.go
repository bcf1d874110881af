package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Reads are the calls that change nothing. A partition of this process answers them, else its owner in another one.
type Reads struct {
	// Here returns a partition if this process owns it, or nil, or an error if nobody can answer.
	Here   func(at int) (*partition.Partition, error)
	client *remote.Client // nil if this process owns all partitions
}

// here calls f with a partition if this process owns it, and reports whether err is the answer. Else the owner has to
// be asked.
func (r *Reads) here(at int, f func(*partition.Partition) error) (answered bool, err error) {
	p, err := r.Here(at)
	if p == nil || err != nil {
		return err != nil, err
	}
	err = f(p)
	return r.client == nil || !errors.Is(err, partition.ErrNotOwner), err
}

// Get returns the timer of a key and the time until it is due.
func (r *Reads) Get(ctx context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error) {
	here, err := r.here(at, func(p *partition.Partition) (err error) {
		value, remaining, ok, err = p.Get(key)
		return err
	})
	if here {
		return value, remaining, ok, err
	}
	return r.client.Get(ctx, at, key)
}

// Lookup returns the timer of a key, dead or not.
func (r *Reads) Lookup(ctx context.Context, at int, key []byte) (t state.Timer, ok bool, err error) {
	if here, err := r.here(at, func(p *partition.Partition) (err error) { t, ok, err = p.Lookup(key); return err }); here {
		return t, ok, err
	}
	return r.client.Lookup(ctx, at, key)
}

// Count returns the number of timers of a partition that are not dead.
func (r *Reads) Count(ctx context.Context, at int) (n int, err error) {
	if here, err := r.here(at, func(p *partition.Partition) (err error) { n, err = p.Len(); return err }); here {
		return n, err
	}
	return r.client.Len(ctx, at)
}

// Epoch returns the epoch of a partition's owner, or 0 if the owner has an earlier version of this program.
func (r *Reads) Epoch(ctx context.Context, at int) (epoch uint64, err error) {
	here, err := r.here(at, func(p *partition.Partition) error {
		epoch = p.Epoch() // also if it has been lost: the owner's is higher
		return nil
	})
	if here {
		return epoch, err
	}
	return r.client.Epoch(ctx, at)
}

// All calls f for all timers of a partition that are dead, or all that are not, until it returns false.
// After a change of owner they come again.
func (r *Reads) All(ctx context.Context, at int, dead bool, f func(state.Timer) bool) error {
	if here, err := r.here(at, func(p *partition.Partition) error { return p.All(dead, f) }); here {
		return err
	}
	return r.client.Scan(ctx, at, dead, f)
}

// Export calls f for all timers of a partition as they were at one moment, until it returns an error. It calls begin
// before the first one, and each time when all comes again, after a change of owner.
func (r *Reads) Export(ctx context.Context, at int, begin func() error, f func(state.Timer) error) error {
	here, err := r.here(at, func(p *partition.Partition) error {
		if err := begin(); err != nil {
			return err
		}
		return p.Export(f)
	})
	if here {
		return err
	}
	return r.client.Export(ctx, at, begin, f)
}

// List finds the first timers of a query in a partition. found must be empty.
func (r *Reads) List(ctx context.Context, at int, q *partition.Query, found *partition.Found) error {
	if here, err := r.here(at, func(p *partition.Partition) error { return p.List(q, found) }); here {
		return err
	}
	*found = nil
	for _, dead := range []bool{false, true} {
		if dead && !q.Dead || !dead && !q.Waiting && !q.Running {
			continue
		}
		seen := make(map[string]bool) // after a change of owner, all come again
		err := r.client.Scan(ctx, at, dead, func(t state.Timer) bool {
			if q.Wants(&t) && !seen[t.Key] {
				seen[t.Key] = true
				found.Add(q, &t)
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}
