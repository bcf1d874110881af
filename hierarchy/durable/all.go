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
			e := Entry[K, V]{Due: timeOf(t.Due)}
			if err == nil {
				e.Key, e.Value, err = w.decode(t.Key, t.Value)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Dead is an iterator over the timers that are dead, in no order, as their last attempt found
// them. Their Epoch is 0.
func (w *Keyed[K, V]) Dead(ctx context.Context) iter.Seq2[Firing[K, V], error] {
	return func(yield func(Firing[K, V], error) bool) {
		for t, err := range w.all(ctx, true) {
			f := Firing[K, V]{Due: timeOf(t.Due), Attempt: int(t.Attempt), ID: ID{t.ID}}
			if err == nil {
				f.Key, f.Value, err = w.decode(t.Key, t.Value)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// all goes over the partitions.
func (w *Keyed[K, V]) all(ctx context.Context, dead bool) iter.Seq2[state.Timer, error] {
	return func(yield func(state.Timer, error) bool) {
		for at := range w.owners.Len() {
			stopped := false
			err := w.owners.All(ctx, at, dead, func(t state.Timer) bool {
				if ctx.Err() == nil {
					stopped = !yield(t, nil)
				}
				return !stopped && ctx.Err() == nil
			})
			if stopped {
				return
			}
			if ctx.Err() != nil {
				yield(state.Timer{}, ctx.Err())
				return
			}
			if err != nil && !yield(state.Timer{}, err) {
				return
			}
		}
	}
}
