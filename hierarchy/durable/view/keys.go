package view

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

// states are the states that the page lets the user choose from.
var states = []string{durable.StateWaiting.String(), durable.StateRunning.String(), durable.StateDead.String()}

// Keys shows keys of timers on the page, at most 20 of the chosen state that begin with a text: the waiting timers that
// are due next, or the dead timers that were due last. It never shows values. Without Keys no key is shown, because
// keys may be secret: use the option only in handlers for people who may see the keys. format returns the text for a
// key and may mask it; only that text is searched. If format is nil, fmt.Sprint is used.
//
// Use it like the option Keys of package hierarchy/view: in Handler, or in Index with the Source of the same timers.
//
// A request iterates over all timers of the state. With durable.Config.Conn, the owners of the partitions send these
// timers with their values. All viewers get the same answer for ten times the time that it took.
func Keys[K comparable, V any](timers *durable.Keyed[K, V], format func(K) string) view.Option {
	if format == nil {
		format = func(k K) string { return fmt.Sprint(k) }
	}
	l := lister[K, V]{timers, format}
	return view.ListedKeys(Source(timers), states, l.list)
}

type lister[K comparable, V any] struct {
	timers *durable.Keyed[K, V]
	format func(K) string
}

// list returns the keys in that state that begin with find.
func (l *lister[K, V]) list(ctx context.Context, find, state string) ([]view.Key, bool, error) {
	if state == durable.StateDead.String() {
		return l.dead(ctx, find)
	}
	return l.pending(ctx, find, state)
}

func (l *lister[K, V]) pending(ctx context.Context, find, state string) ([]view.Key, bool, error) {
	due := func(a, b durable.Entry[K, V]) int { return a.Due.Compare(b.Due) }
	entries, more, err := first(l.timers.All(ctx), func(e durable.Entry[K, V]) bool {
		return e.State.String() == state && l.begins(e.Key, find)
	}, due)
	if err != nil {
		return nil, false, err
	}
	keys := make([]view.Key, len(entries))
	for i, e := range entries {
		k := view.Key{Text: l.format(e.Key)}
		_, left, ok, err := l.timers.Get(ctx, e.Key) // by the clock of the timer's owner
		if err != nil {
			return nil, false, err
		}
		switch k.Remaining = left; {
		case !ok:
			k.Note = "gone"
		case e.State == durable.StateRunning:
			k.Note = fmt.Sprintf("attempt %d", e.Attempt)
		}
		keys[i] = k
	}
	return keys, more, nil
}

func (l *lister[K, V]) dead(ctx context.Context, find string) ([]view.Key, bool, error) {
	due := func(a, b durable.Firing[K, V]) int { return b.Due.Compare(a.Due) }
	all, more, err := first(l.timers.Dead(ctx), func(f durable.Firing[K, V]) bool { return l.begins(f.Key, find) }, due)
	keys := make([]view.Key, len(all))
	for i, f := range all {
		keys[i] = view.Key{Text: l.format(f.Key),
			Note: fmt.Sprintf("attempt %d failed; due %s", f.Attempt, f.Due.UTC().Format(time.DateTime))}
	}
	return keys, more, err
}

func (l *lister[K, V]) begins(k K, find string) bool {
	return find == "" || strings.HasPrefix(l.format(k), find)
}

// first returns the first timers of seq in that order, among those that are chosen, and whether there are more.
func first[T any](seq iter.Seq2[T, error], chosen func(T) bool, order func(a, b T) int) (all []T, more bool, err error) {
	for t, err := range seq {
		if err != nil {
			return nil, false, err
		}
		if !chosen(t) {
			continue
		}
		if len(all) == view.MaxKeys {
			more = true
			if order(t, all[view.MaxKeys-1]) >= 0 {
				continue
			}
			all = all[:view.MaxKeys-1]
		}
		i, _ := slices.BinarySearchFunc(all, t, order)
		all = slices.Insert(all, i, t)
	}
	return all, more, nil
}
