package cluster

import (
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Lookup returns the timer of a key, dead or not.
func (r *router) Lookup(ctx context.Context, at int, key []byte) (t state.Timer, ok bool, err error) {
	if p := r.owned[at].Load(); p != nil {
		if t, ok, err = p.Lookup(key); !errors.Is(err, partition.ErrNotOwner) {
			return t, ok, err
		}
	}
	return r.client.Lookup(ctx, at, key)
}

// List adds the timers of a partition to the first ones of a query.
func (r *router) List(ctx context.Context, at int, q *partition.Query, found *partition.Found) error {
	if p := r.owned[at].Load(); p != nil {
		if err := p.List(q, found); !errors.Is(err, partition.ErrNotOwner) {
			return err
		}
		*found = nil
	}
	return scan(ctx, r.client, at, q, found)
}

// scan is List by the pages of the owner in another process.
func scan(ctx context.Context, client *remote.Client, at int, q *partition.Query, found *partition.Found) error {
	for _, dead := range []bool{false, true} {
		if dead && !q.Dead || !dead && !q.Waiting && !q.Running {
			continue
		}
		seen := make(map[string]bool) // after a change of owner, all come again
		err := client.Scan(ctx, at, dead, func(t state.Timer) bool {
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
