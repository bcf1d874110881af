// Package lane holds the timers that are due and wait for their attempts. A timer waits for a place at the host of its
// webhook, or for a worker that takes from its queue.
package lane

import (
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Due is a timer that is due.
type Due struct {
	Key string
	ID  durable.ID
	At  time.Time
}

// waiting holds timers that are due, in order of their due times. It holds at most one timer for each key: a new timer
// replaces an earlier timer with the same key. It is not safe for concurrent use.
//
// Besides the order of all timers it has one for each prefix that is in use, so that the first timer with a prefix is
// found without looking at the others. A timer that leaves is only marked in the orders where it is not the first one.
type waiting struct {
	keys map[string]*item
	all  order
	some map[string]*order // by prefix
}

type item struct {
	Due
	seq  uint64 // the order of arrival, for timers that are due at the same time
	gone bool   // it has left
}

// push adds a timer. seq is the order of its arrival.
func (w *waiting) push(d Due, seq uint64) {
	if it := w.keys[d.Key]; it != nil {
		w.leave(it, nil)
	}
	if w.keys == nil {
		w.keys = make(map[string]*item)
	}
	it := &item{Due: d, seq: seq}
	w.keys[d.Key] = it
	w.all.add(it)
	for prefix, o := range w.some {
		if strings.HasPrefix(d.Key, prefix) {
			o.add(it)
		}
		if o.unused++; o.unused > len(w.keys)+least { // it costs no more to make it again
			delete(w.some, prefix)
		}
	}
}

// pop removes the first timer whose key has the prefix.
func (w *waiting) pop(prefix string) (d Due, ok bool) {
	o := w.order(prefix)
	it := o.first()
	if it == nil {
		return d, false
	}
	o.next()
	w.leave(it, o)
	return it.Due, true
}

// remove removes the timer of a key, if it has that ID.
func (w *waiting) remove(key string, id durable.ID) {
	if it := w.keys[key]; it != nil && it.ID == id {
		w.leave(it, nil)
	}
}

// leave removes a timer. from is the order that does not have it any more, if there is one.
func (w *waiting) leave(it *item, from *order) {
	it.gone = true
	delete(w.keys, it.Key)
	if from != &w.all {
		w.all.left()
	}
	for prefix, o := range w.some {
		if o != from && strings.HasPrefix(it.Key, prefix) {
			o.left()
		}
	}
}

// order returns the order of the timers whose keys have a prefix.
func (w *waiting) order(prefix string) *order {
	if prefix == "" {
		return &w.all
	}
	o := w.some[prefix]
	if o == nil {
		o = new(order)
		for _, it := range w.all.items {
			if !it.gone && strings.HasPrefix(it.Key, prefix) {
				o.add(it)
			}
		}
		if w.some == nil {
			w.some = make(map[string]*order)
		}
		w.some[prefix] = o
	}
	o.unused = 0
	return o
}

// has reports whether a timer waits whose key has the prefix.
func (w *waiting) has(prefix string) bool { return w.order(prefix).first() != nil }

// hasKey reports whether the timer of a key waits.
func (w *waiting) hasKey(key string) bool { return w.keys[key] != nil }

func (w *waiting) len() int { return len(w.keys) }
