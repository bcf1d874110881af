// Package expiration gives a hierarchy.Driven the API of the timer wheel by which otter expires entries
// (github.com/maypok86/otter/v2, internal/expiration), and has a small cache that uses it.
//
// In otter's wheel, nodes are linked to each other. Here each node keeps the Handle of its
// timer. otter's wheel finds an entry within a second of its deadline; a Driven knows the
// deadlines to the nanosecond and gives them in order.
package expiration

import (
	"iter"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Node is an entry of a cache.
type Node interface {
	ExpiresAt() int64         // deadline by the cache's clock
	IsAlive() bool            // whether it is in the cache
	Timer() *hierarchy.Handle // pointer to the Handle of the node's timer
}

// Wheel has the methods of otter's wheel.
type Wheel[N Node] struct {
	start  int64
	driven hierarchy.Driven[N]
}

// NewWheel returns an empty Wheel for a clock that reads start now. otter's own wheel does not need the time here, and
// a clock of otter may read less than 0. A Driven treats any time before 0 as 0, so the Wheel counts from start.
func NewWheel[N Node](start int64) *Wheel[N] { return &Wheel[N]{start: start} }

// Schedule sets the timer of n to the deadline of n, and makes a timer if n has none. The timer of a node that is not
// alive is removed.
func (w *Wheel[N]) Schedule(n N) {
	if n.IsAlive() {
		w.set(n, n.ExpiresAt())
		return
	}
	w.Unschedule(n)
}

func (w *Wheel[N]) set(n N, expiresAt int64) {
	due := w.sinceStart(expiresAt)
	if timer := n.Timer(); !w.driven.Move(*timer, due) {
		*timer = w.driven.Set(n, due)
	}
}

// sinceStart returns t as the time since start, which is the time of the Driven.
func (w *Wheel[N]) sinceStart(t int64) time.Duration {
	since := t - w.start
	switch {
	case t > w.start && since < 0: // the difference overflowed
		return math.MaxInt64
	case t < w.start && since > 0:
		return math.MinInt64
	}
	return time.Duration(since)
}

// Unschedule removes the timer of n, if it has one.
func (w *Wheel[N]) Unschedule(n N) { w.driven.Remove(*n.Timer()) }

// Advance calls expire for up to limit nodes that have expired. It reports whether it stopped at the limit. otter's
// wheel has no limit. With it, a cache can release its lock for other callers before it calls Advance again.
//
// expire reports whether it removed the node from the cache. A node that expire keeps is scheduled again, and so is a
// node that was extended since it was scheduled.
func (w *Wheel[N]) Advance(now int64, limit int, expire func(n N, now int64) bool) (more bool) {
	for n := range w.driven.Expire(w.sinceStart(now)) {
		w.offer(n, now, expire)
		if limit--; limit <= 0 {
			return true
		}
	}
	return false
}

// offer schedules n again unless expire returns true. If expire panics, n is also scheduled again. n is scheduled after
// now, because this Advance would otherwise offer it again.
func (w *Wheel[N]) offer(n N, now int64, expire func(n N, now int64) bool) {
	removed := false
	defer func() {
		if !removed && n.IsAlive() {
			w.set(n, max(n.ExpiresAt(), now+1))
		}
	}()
	removed = n.ExpiresAt() <= now && expire(n, now)
}

// All returns an iterator over all nodes that are scheduled, in no particular order.
func (w *Wheel[N]) All() iter.Seq[N] {
	return func(yield func(N) bool) {
		for n := range w.driven.All() {
			if !yield(n) {
				return
			}
		}
	}
}
