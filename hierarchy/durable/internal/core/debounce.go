package core

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"

// Debounced calls of a key follow each other, and set one timer: each moves it to its Quiet after the call, but not
// beyond its Longest after the first call of the run. A run of calls ends when an attempt begins, and when the timer is set,
// moved or removed otherwise. An attempt that does not count ends no run.

// isDebounced reports whether the operation is a debounced call.
func (a *Op) isDebounced() bool { return a.Longest > 0 }

// debounce sets when the timer now of a debounced call is due. The timer replaces was.
func (o *Owner) debounce(a *Op, was, now *change) {
	since := a.called
	if o.goesOnFrom(was) {
		since = was.extra.Since
	}
	now.due = min(state.Add(a.called, int64(a.Quiet)), state.Add(since, int64(a.Longest)))
	now.extra.Debounced, now.extra.Since = true, since
}

// goesOnFrom reports whether the timer of a key is that of a run of debounced calls which the next one continues.
func (o *Owner) goesOnFrom(was *change) bool {
	begun := was.attempt > 0 || was.ref != 0 && o.State.IsRunning(was.ref, was.id)
	return was.after == live && was.extra.Debounced && !begun
}
