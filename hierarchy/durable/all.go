package durable

import (
	"context"
	"iter"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// All iterates over the timers that are not dead, in no order. A timer that is pending all the time is
// yielded once, or again if its partition changes hands meanwhile. If a partition fails, All yields its error
// and goes on with the next one. The loop's body may call any method.
func (w *Keyed[K, V]) All(ctx context.Context) iter.Seq2[Entry[K, V], error] {
	return func(yield func(Entry[K, V], error) bool) {
		for t, err := range w.all(ctx, false) {
			e := entryOf[K, V](&t.Timer)
			if err == nil {
				e.Key, e.Value, err = w.decode(t.Key, t.Value)
			}
			if err == nil {
				e.Schedule, err = parseStored(t.Schedule)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Dead iterates over the dead timers, in no order, each as the Firing of its last attempt. But the Epoch
// is that of the partition when the iteration reached it, so what is done for a dead timer can be refused if
// the partition has changed hands since. It is 0 if the owner runs an earlier version of this package.
func (w *Keyed[K, V]) Dead(ctx context.Context) iter.Seq2[Firing[K, V], error] {
	return func(yield func(Firing[K, V], error) bool) {
		for t, err := range w.all(ctx, true) {
			f := Firing[K, V]{Due: timeOf(t.Due), Attempt: int(t.Attempt), ID: ID{t.ID}, Epoch: t.epoch, Missed: int(t.Missed),
				LastError: t.LastError}
			if t.Died != 0 {
				f.Died = timeOf(t.Died)
			}
			if err == nil {
				f.Key, f.Value, err = w.decode(t.Key, t.Value)
			}
			if err == nil {
				f.Schedule, err = parseStored(t.Schedule)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// timer is a timer of a partition, with the partition's epoch if it is dead.
type timer struct {
	state.Timer
	epoch uint64
}

// all iterates over the timers of all partitions.
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

// allOf calls f for the timers of a partition. It reads the epoch first, so that it is not later than they are.
func (w *Keyed[K, V]) allOf(ctx context.Context, at int, dead bool, f func(timer) bool) (err error) {
	epoch := uint64(0)
	if dead {
		if epoch, err = w.owners.Epoch(ctx, at); err != nil {
			return err
		}
	}
	return w.owners.All(ctx, at, dead, func(t state.Timer) bool { return f(timer{t, epoch}) })
}
