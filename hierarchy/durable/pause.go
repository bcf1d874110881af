package durable

import (
	"context"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Pause pauses the Schedule of k: no attempt begins until Resume, on whatever process, and after a restart. An attempt
// that is running goes on, and if it fails, the next one waits, too. Pause reports whether k has a timer with a Schedule
// that is not dead; a timer that is paused already stays so.
//
// Entry.Paused tells that a timer is paused. It keeps its value, its due time and its attempts, and counts under
// MaxPending. SetSchedule replaces it, and the new Schedule is paused, too, so that a program that sets its schedules when
// it starts does not resume them. Move and MoveAt move its run, which waits for Resume. Set and Remove end the pause.
func (w *Keyed[K, V]) Pause(ctx context.Context, k K) (bool, error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Pause, key: k})
	return a.took, err
}

// Resume ends a Pause, and reports whether k has a timer with a Schedule that is not dead. If what the timer waits for is still to come, it goes on
// waiting for that. Otherwise it waits for the next run after now, which has another ID, and the attempts of the run that
// was pending are over: a pause is on purpose, so whatever OnMissed says, runs that fall due in it are not made up for.
// If there is no further run, the timer is removed.
func (w *Keyed[K, V]) Resume(ctx context.Context, k K) (bool, error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Resume, key: k})
	return a.took, err
}
