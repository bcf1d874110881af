package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/keys"
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
	return w.Set(k, v, t.Sub(w.core.Clock().Now()))
}

// Swap is Set that also returns the value that was replaced. replaced reports whether k was pending.
func (w *Keyed[K, V]) Swap(k K, v V, d time.Duration) (old V, replaced bool, err error) {
	old, result, err := w.set(k, v, d, keys.Always)
	return old, result == keys.SetAgain, err
}

// SetIfAbsent is Set if k is not pending. Otherwise it changes nothing. It reports whether it set the timer. So if
// several calls set one key, the first wins.
func (w *Keyed[K, V]) SetIfAbsent(k K, v V, d time.Duration) (bool, error) {
	_, result, err := w.set(k, v, d, keys.IfAbsent)
	return result != keys.NotSet, err
}

// SetSooner is Set if k is not pending, or is due later than after d. Otherwise it changes nothing. It reports whether
// it set the timer. So if several calls set one key, the call with the earliest deadline wins. Among calls with the
// same deadline, the first one wins.
func (w *Keyed[K, V]) SetSooner(k K, v V, d time.Duration) (bool, error) {
	_, result, err := w.set(k, v, d, keys.IfSooner)
	return result != keys.NotSet, err
}

// SetLater is Set if k is not pending, or is due sooner than after d. Otherwise it changes nothing. It reports whether
// it set the timer. So if several calls set one key, the call with the latest deadline wins. Among calls with the same
// deadline, the first one wins.
func (w *Keyed[K, V]) SetLater(k K, v V, d time.Duration) (bool, error) {
	_, result, err := w.set(k, v, d, keys.IfLater)
	return result != keys.NotSet, err
}

// set is Swap under a condition.
func (w *Keyed[K, V]) set(k K, v V, d time.Duration, c keys.Condition) (old V, result keys.Result, err error) {
	h, err := w.hash(k)
	if err != nil {
		return old, keys.NotSet, err
	}
	return w.table.Set(h, k, v, w.core.Now(), d, c)
}
