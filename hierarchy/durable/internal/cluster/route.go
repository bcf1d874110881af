package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// How calls find the owner: in this process by a call, else by a message. Whoever owns a partition
// answers what is sent for it, so that nobody needs to know who it is.

// Do has the operations of a call take hold in partition at, and waits until they are in the log, or
// until ctx is done. With ErrUnavailable and the context's error they may take hold, or not.
func (c *Cluster) Do(ctx context.Context, at int, call *partition.Call) error {
	p := c.owned[at].Load()
	if p == nil || !c.client.Settled(at) {
		return c.client.Do(ctx, at, call)
	}
	begun := c.client.Now()
	if err := p.Do(ctx, call); !errors.Is(err, partition.ErrNotOwner) {
		return err
	}
	return c.client.DoSince(ctx, at, call, begun)
}

// Get is the timer of a key and the time until it is due.
func (c *Cluster) Get(ctx context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error) {
	if p := c.owned[at].Load(); p != nil {
		if value, remaining, ok, err = p.Get(key); !errors.Is(err, partition.ErrNotOwner) {
			return value, remaining, ok, err
		}
	}
	return c.client.Get(ctx, at, key)
}

// Count is the number of timers of a partition that are not dead.
func (c *Cluster) Count(ctx context.Context, at int) (int, error) {
	if p := c.owned[at].Load(); p != nil {
		if n, err := p.Len(); !errors.Is(err, partition.ErrNotOwner) {
			return n, err
		}
	}
	return c.client.Len(ctx, at)
}

// Epoch is that of a partition's owner, or 0 if that is of an earlier version.
func (c *Cluster) Epoch(ctx context.Context, at int) (uint64, error) {
	if p := c.owned[at].Load(); p != nil {
		return p.Moment().Epoch, nil // also if it has been lost: the owner's is higher
	}
	return c.client.Epoch(ctx, at)
}

// All calls f for all timers of a partition that are dead, or all that are not, until it is false.
// After a change of owner they come again.
func (c *Cluster) All(ctx context.Context, at int, dead bool, f func(state.Timer) bool) error {
	if p := c.owned[at].Load(); p != nil {
		if err := p.All(dead, f); !errors.Is(err, partition.ErrNotOwner) {
			return err
		}
	}
	return c.client.Scan(ctx, at, dead, f)
}
