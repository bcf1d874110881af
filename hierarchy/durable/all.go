package durable

import (
	"context"
	"iter"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// All iterates over the timers that are not dead, in no order. A timer that is pending throughout the iteration is
// yielded once. It may be yielded again if its partition changes hands meanwhile. If a partition fails, All yields the
// error and continues with the next partition. The loop's body may call any method.
func (w *Keyed[K, V]) All(ctx context.Context) iter.Seq2[Entry[K, V], error] {
	return all(ctx, w.owners, false, func(t *state.Timer, _ uint64) (Entry[K, V], error) { return w.entry(t) })
}

// Dead iterates over the dead timers, in no order, and yields each as the Firing of its last attempt. The Epoch,
// however, is the epoch of the partition when the iteration reached it, so that a store can refuse what is done for a
// dead timer if the partition has changed hands since.
func (w *Keyed[K, V]) Dead(ctx context.Context) iter.Seq2[Firing[K, V], error] {
	return all(ctx, w.owners, true, func(t *state.Timer, epoch uint64) (f Firing[K, V], err error) {
		f = Firing[K, V]{Due: timeOf(t.Due), Attempt: int(t.Attempt), ID: ID{t.ID}, Epoch: epoch, Missed: int(t.Missed),
			LastError: t.LastError}
		if t.Failed != 0 {
			f.Died = timeOf(t.Failed)
		}
		f.Key, f.Value, f.Schedule, err = w.decode(t.Key, t.Value, t.Schedule)
		return f, err
	})
}

// all iterates over the timers of all partitions: with dead over the dead ones, otherwise over those that are not dead.
// It calls decode with each timer and, if the timer is dead, with the epoch of its partition, otherwise with 0.
func all[T any](ctx context.Context, o owners, dead bool, decode func(*state.Timer, uint64) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for at := range o.Len() {
			stopped := false
			err := allOf(ctx, o, at, dead, func(t *state.Timer, epoch uint64) bool {
				if ctx.Err() == nil {
					stopped = !yield(decode(t, epoch))
				}
				return !stopped && ctx.Err() == nil
			})
			switch {
			case stopped:
				return
			case ctx.Err() != nil:
				yield(none, ctx.Err())
				return
			case err != nil && !yield(none, err):
				return
			}
		}
	}
}

// allOf calls f for the timers of a partition. It reads the epoch first, so that the epoch is not newer than the
// timers.
func allOf(ctx context.Context, o owners, at int, dead bool, f func(*state.Timer, uint64) bool) (err error) {
	epoch := uint64(0)
	if dead {
		if epoch, err = o.Epoch(ctx, at); err != nil {
			return err
		}
	}
	return o.All(ctx, at, dead, func(t state.Timer) bool { return f(&t, epoch) })
}
