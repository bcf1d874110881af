package time

import (
	"sync/atomic"
	"time"
)

// window has the times of one window, in no order, and 0 where there is none. Windows that are reach windows apart share
// one, and the later one takes over the places of the earlier.
type window [few]atomic.Int64

// add adds at, and reports whether there was a place.
func (w *window) add(at time.Duration) bool {
	for i := range w {
		for {
			old := w[i].Load()
			if old != 0 && time.Duration(old)/width >= at/width {
				break // of this window, even if it has passed
			}
			if w[i].CompareAndSwap(old, int64(at)) {
				return true
			}
		}
	}
	return false
}

// remove removes a time that was added, if it is still there.
func (w *window) remove(at time.Duration) {
	for i := range w {
		if w[i].CompareAndSwap(int64(at), 0) {
			return
		}
	}
}

// next returns the earliest time after now that is there, or never.
func (w *window) next(now time.Duration) time.Duration {
	next := time.Duration(never)
	for i := range w {
		if at := time.Duration(w[i].Load()); at > now {
			next = min(next, at)
		}
	}
	return next
}
