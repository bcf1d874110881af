package durable

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Query selects the timers that List and Scan return.
type Query struct {
	// Prefix is what the keys begin with, as Config.Key encodes them.
	Prefix string
	// After, if not empty, is a key as Config.Key encodes it. The list begins with the first key after it: set it to
	// the last key of the previous page.
	After string
	// States are the states of the timers. Empty means all.
	States []State
	// Limit is the largest number of timers to return. List requires a positive one. For Scan, 0 means all.
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

// List returns the first timers that match a query, as Scan yields them. If a partition fails, List returns its error,
// and no timers.
func (w *Keyed[K, V]) List(ctx context.Context, q Query) ([]Entry[K, V], error) {
	if q.Limit <= 0 {
		return nil, errLimit
	}
	var entries []Entry[K, V]
	for e, err := range w.Scan(ctx, q) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Scan iterates over the timers that match a query, in the byte order of their keys as Config.Key encodes them. A timer
// that is pending throughout, and stays in one of the States, is yielded once, even if its partition changes hands
// meanwhile. If there is an error, Scan yields it and ends. The loop's body may call any method.
//
// Timers are read a few at a time, from an index in the order of their keys, so neither the time nor the memory that
// Scan needs depends on the number of other timers. The first Scan or List of an owner builds the index: a
// million timers take 0.1 to 1 s of CPU time. No other call waits for that, except another Scan or List. From then on the index takes 8 to 16
// bytes for each timer, and a microsecond or two when a key gets a timer or loses it. An owner that nobody lists has no
// index.
func (w *Keyed[K, V]) Scan(ctx context.Context, q Query) iter.Seq2[Entry[K, V], error] {
	return func(yield func(Entry[K, V], error) bool) {
		for t, err := range w.scan(ctx, q, false) {
			var e Entry[K, V]
			if err == nil {
				e, err = w.entry(&t)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// scan is Scan without decoding. With logged, the Attempt of each timer is the last one that is in the log.
func (w *Keyed[K, V]) scan(ctx context.Context, q Query, logged bool) iter.Seq2[state.Timer, error] {
	return func(yield func(state.Timer, error) bool) {
		if q.Limit < 0 {
			yield(state.Timer{}, errLimit)
			return
		}
		m := newMerge(w.owners, q, logged)
		err := m.begin(ctx)
		for n := 1; err == nil && len(m.heads) > 0; n++ {
			if !yield(m.first(), nil) || n == q.Limit {
				return
			}
			err = m.next(ctx)
		}
		if err != nil {
			yield(state.Timer{}, err)
		}
	}
}

// states returns the states of a query.
func (q *Query) states() (all state.States) {
	for s, st := range map[State]state.States{StateWaiting: state.Waiting, StateRunning: state.Running, StateDead: state.Dead} {
		if len(q.States) == 0 || slices.Contains(q.States, s) {
			all |= st
		}
	}
	return all
}

// entry returns a timer as an Entry.
func (w *Keyed[K, V]) entry(t *state.Timer) (e Entry[K, V], err error) {
	e = entryOf[K, V](t)
	e.Key, e.Value, e.Schedule, err = w.decode(t.Key, t.Value, t.Schedule)
	return e, err
}

var errLimit = fmt.Errorf("%w: Limit is not positive", core.ErrArgument)
