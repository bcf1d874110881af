package durable

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// SetDebounced sets a timer for k that waits until the calls for k pause: it is due quiet after the call, but not later
// than longest after the first call of the run. The first call of a run is one that finds no timer of SetDebounced waiting;
// each further one moves the timer, and its v replaces the value. So the handler is called once for a run, with the last
// value, and calls that never pause don't put it off for ever. If longest is not more than quiet, it is called longest after
// the first call, whatever follows. Each call counts by its own quiet and longest.
//
// A run ends when the handler is called: a call during an attempt, or between an attempt that has failed and the next one,
// begins a new run, as does one after Set, Move and their like. If k has a timer that was set otherwise, also one with
// a Schedule or a dead one, it is replaced. Run and due time survive restarts and changes of owners. The error can also be ErrFull,
// ErrTooLarge, or ErrArgument, if quiet is negative or longest is not positive.
func (w *Keyed[K, V]) SetDebounced(ctx context.Context, k K, v V, quiet, longest time.Duration) (Entry[K, V], error) {
	e, _, err := w.set(ctx, debounced(k, v, quiet, longest))
	return e, err
}

// SetDebounced adds an operation like Keyed.SetDebounced. quiet and longest count from the call of Keyed.Batch.
func (b *Batch[K, V]) SetDebounced(k K, v V, quiet, longest time.Duration) {
	b.ops = append(b.ops, debounced(k, v, quiet, longest))
}

func debounced[K comparable, V any](k K, v V, quiet, longest time.Duration) operation[K, V] {
	return operation[K, V]{kind: frame.Set, key: k, val: v, debounced: true, quiet: quiet, longest: longest}
}

func checkDebounce(quiet, longest time.Duration) error {
	if quiet < 0 || longest <= 0 {
		return fmt.Errorf("%w: SetDebounced with quiet %v and longest %v", core.ErrArgument, quiet, longest)
	}
	return nil
}
