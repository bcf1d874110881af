package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Query selects the timers that List returns.
type Query struct {
	// Prefix is what the keys begin with, as Config.Key encodes them.
	Prefix string
	// After, if not empty, is a key as Config.Key encodes it. The list begins with the first key after it: set it to
	// the last key of the previous page.
	After string
	// States are the states of the timers. Empty means all.
	States []State
	// Limit is the largest number of timers to return. It must be positive.
	Limit int
}

// Lookup returns the timer of k, dead or not. ok is false if there is none.
func (w *Keyed[K, V]) Lookup(ctx context.Context, k K) (e Entry[K, V], ok bool, err error) {
	key, err := w.appendKey(nil, k)
	if err != nil {
		return e, false, err
	}
	t, ok, err := w.owners.Lookup(ctx, of(key, w.owners.Len()), key)
	if !ok || err != nil {
		return e, false, err
	}
	e, err = w.entry(&t)
	return e, err == nil, err
}

// List returns the first timers that match a query, in the byte order of their keys as Config.Key encodes them. For
// that it looks at all timers, at some ten million a second. If a partition fails, List returns its error, and no
// timers.
func (w *Keyed[K, V]) List(ctx context.Context, q Query) ([]Entry[K, V], error) {
	if q.Limit <= 0 {
		return nil, errLimit
	}
	query := partition.Query{Prefix: q.Prefix, After: q.After, Limit: q.Limit}
	wants := func(s State) bool { return len(q.States) == 0 || slices.Contains(q.States, s) }
	query.Waiting, query.Running, query.Dead = wants(StateWaiting), wants(StateRunning), wants(StateDead)
	found, err := w.find(ctx, &query)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry[K, V], len(found))
	for i := range found {
		if entries[i], err = w.entry(&found[i]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// find returns the first timers that match in all partitions.
func (w *Keyed[K, V]) find(ctx context.Context, q *partition.Query) (partition.Found, error) {
	parts := make([]partition.Found, w.owners.Len())
	errs := wait.All(len(parts), len(parts), func(at int) error { return w.owners.List(ctx, at, q, &parts[at]) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b state.Timer) int { return cmp.Compare(a.Key, b.Key) })
	return all[:min(len(all), q.Limit)], nil
}

// entry returns a timer as an Entry.
func (w *Keyed[K, V]) entry(t *state.Timer) (e Entry[K, V], err error) {
	e = entryOf[K, V](t)
	e.Key, e.Value, e.Schedule, err = w.decode(t.Key, t.Value, t.Schedule)
	return e, err
}

var errLimit = fmt.Errorf("%w: Limit is not positive", partition.ErrArgument)
