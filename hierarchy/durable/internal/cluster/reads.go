package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Reads are the calls that change nothing. If this process owns the partition, the partition answers, otherwise its
// owner in another process.
type Reads struct {
	// Here returns a partition if this process owns it, otherwise nil. It returns an error if no process can answer for
	// the partition.
	Here   func(at int) (*partition.Partition, error)
	client *remote.Client // nil if this process owns all partitions
}

// here calls f with a partition if this process owns it. answered reports whether err is the answer; if it is not, the
// owner in another process has to be asked.
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

// Epoch returns the epoch of a partition's owner.
func (r *Reads) Epoch(ctx context.Context, at int) (epoch uint64, err error) {
	here, err := r.here(at, func(p *partition.Partition) error {
		epoch = p.Epoch() // even if the partition has been lost: the epoch of its new owner is higher
		return nil
	})
	if here {
		return epoch, err
	}
	return r.client.Epoch(ctx, at)
}

// All calls f for the dead timers of a partition or, if dead is false, for the other timers, until f returns false.
// After a change of owner, f is called for all of them again.
func (r *Reads) All(ctx context.Context, at int, dead bool, f func(state.Timer) bool) error {
	if here, err := r.here(at, func(p *partition.Partition) error { return p.All(dead, f) }); here {
		return err
	}
	return r.client.Scan(ctx, at, dead, f)
}

// Export calls f for all timers of a partition as they were at one moment, until f returns an error. It calls begin
// before the first timer. After a change of owner, it calls begin again, and then f for all timers.
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

// List returns the first timers of a query in a partition. With More, there may be others after these.
func (r *Reads) List(ctx context.Context, at int, q *partition.Query) (found partition.Found, err error) {
	if here, err := r.here(at, func(p *partition.Partition) (err error) { found, err = p.List(q); return err }); here {
		return found, err
	}
	return r.client.List(ctx, at, q)
}
