package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Set sets a timer for k, with the value v, due after d. If k is pending, its value and deadline are replaced. If d <=
// 0 the timer fires at once, like a timer of Wheel.AfterFunc, but fire is never called inside the call. The error is
// ErrClosed, ErrFull, or ErrArgument if k can't be compared.
func (w *Keyed[K, V]) Set(k K, v V, d time.Duration) error {
	_, _, err := w.Swap(k, v, d)
	return err
}

// SetAt is Set with the delay from the clock's current wall time to t. The delay is computed once: later settings of
// the wall clock do not affect the timer.
func (w *Keyed[K, V]) SetAt(k K, v V, t time.Time) error {
	return w.Set(k, v, t.Sub(w.core.Wall()))
}

// Swap is Set that also returns the value that was replaced. replaced reports whether k was pending.
func (w *Keyed[K, V]) Swap(k K, v V, d time.Duration) (old V, replaced bool, err error) {
	old, result, err := w.set(k, v, d, always)
	return old, result == setAgain, err
}

// SetIfAbsent is Set if k is not pending. Otherwise it changes nothing. It reports whether it set the timer. So if
// several calls set one key, the first wins.
func (w *Keyed[K, V]) SetIfAbsent(k K, v V, d time.Duration) (bool, error) {
	_, result, err := w.set(k, v, d, ifAbsent)
	return result != setNot, err
}

// SetSooner is Set if k is not pending, or is due later than after d. Otherwise it changes nothing. It reports whether
// it set the timer. So if several calls set one key, the call with the earliest deadline wins. Among calls with the
// same deadline, the first one wins.
func (w *Keyed[K, V]) SetSooner(k K, v V, d time.Duration) (bool, error) {
	_, result, err := w.set(k, v, d, ifSooner)
	return result != setNot, err
}

// SetLater is Set if k is not pending, or is due sooner than after d. Otherwise it changes nothing. It reports whether
// it set the timer. So if several calls set one key, the call with the latest deadline wins. Among calls with the same
// deadline, the first one wins.
func (w *Keyed[K, V]) SetLater(k K, v V, d time.Duration) (bool, error) {
	_, result, err := w.set(k, v, d, ifLater)
	return result != setNot, err
}

// condition determines when a pending timer is set again.
type condition uint8

const (
	always condition = iota
	ifAbsent
	ifSooner
	ifLater
)

// holds reports whether a timer that is due at old is set again, to deadline.
func (c condition) holds(old, deadline int64) bool {
	switch c {
	case always:
		return true
	case ifSooner:
		return deadline < old
	case ifLater:
		return deadline > old
	}
	return false
}

// setResult is the result of set.
type setResult uint8

const (
	setNot   setResult = iota
	setNew             // k was not pending
	setAgain           // k was pending
)

// set is Swap under a condition.
func (w *Keyed[K, V]) set(k K, v V, d time.Duration, c condition) (old V, result setResult, err error) {
	h, err := w.hash(k)
	if err != nil {
		return old, setNot, err
	}
	now := w.core.Now()
	s, x := w.shard(h)
	s.Mu.Lock()
	if i := w.find(s, x, h, k); i != 0 {
		n := s.Timers.Arena().At(i)
		if !c.holds(n.Key, engine.DeadlineAfter(now, d)) {
			s.Mu.Unlock()
			return old, setNot, nil
		}
		e := s.Timers.Value(i)
		old, e.val = e.val, v
		s.Reschedule(i, n, now, d)
		return old, setAgain, nil
	}
	if _, err := s.AddHere(entry[K, V]{key: k, val: v, hash: uint32(h)}, now, d, 0); err != nil {
		return old, setNot, err
	}
	return old, setNew, nil
}
