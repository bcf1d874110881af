package durable

import (
	"context"
	"iter"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// All is an iterator over the timers that are not dead, in no order. What is pending from beginning
// to end comes once, and again only if the owner of its partition changes meanwhile. After an error
// of a partition the next one follows. The loop's body may call anything.
func (w *Keyed[K, V]) All(ctx context.Context) iter.Seq2[Entry[K, V], error] {
	return func(yield func(Entry[K, V], error) bool) {
		for t, err := range w.all(ctx, false) {
			e := Entry[K, V]{Due: timeOf(t.Due), ID: ID{t.ID}, Attempt: int(t.Attempt)}
			if err == nil {
				e.Key, e.Value, err = w.decode(t.Key, t.Value)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Dead is an iterator over the timers that are dead, in no order, as their last attempt found them. But their
// Epoch is that of the partition when the iteration came to it: what is done for a dead timer can be refused if
// the partition has changed hands since. It is 0 if the partition's owner is of an earlier version.
func (w *Keyed[K, V]) Dead(ctx context.Context) iter.Seq2[Firing[K, V], error] {
	return func(yield func(Firing[K, V], error) bool) {
		for t, err := range w.all(ctx, true) {
			f := Firing[K, V]{Due: timeOf(t.Due), Attempt: int(t.Attempt), ID: ID{t.ID}, Epoch: t.epoch}
			if err == nil {
				f.Key, f.Value, err = w.decode(t.Key, t.Value)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// timer is one of a partition, and if it is dead, the partition's epoch.
type timer struct {
	state.Timer
	epoch uint64
}

// all goes over the partitions.
func (w *Keyed[K, V]) all(ctx context.Context, dead bool) iter.Seq2[timer, error] {
	return func(yield func(timer, error) bool) {
		for at := range w.owners.Len() {
			stopped := false
			err := w.allOf(ctx, at, dead, func(t timer) bool {
				if ctx.Err() == nil {
					stopped = !yield(t, nil)
				}
				return !stopped && ctx.Err() == nil
			})
			if stopped {
				return
			}
			if ctx.Err() != nil {
				yield(timer{}, ctx.Err())
				return
			}
			if err != nil && !yield(timer{}, err) {
				return
			}
		}
	}
}

// allOf goes over one partition. The epoch is read before the timers, so it is never later than they are.
func (w *Keyed[K, V]) allOf(ctx context.Context, at int, dead bool, f func(timer) bool) (err error) {
	epoch := uint64(0)
	if dead {
		if epoch, err = w.owners.Epoch(ctx, at); err != nil {
			return err
		}
	}
	return w.owners.All(ctx, at, dead, func(t state.Timer) bool { return f(timer{t, epoch}) })
}
