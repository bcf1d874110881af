package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// explain logs what has happened, if the test has failed. A seed need not bring a failure back, so it says all that is known
// of the timers that are concerned.
func (w *world) explain() {
	if !w.t.Failed() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(w.events, "\n"))
	for at, all := range w.takeovers {
		for _, epoch := range slices.Sorted(maps.Keys(all)) {
			t := all[epoch]
			fmt.Fprintf(&b, "%v takeover of partition %d by process %d: owner %d, time %d, own %d\n",
				w.after(t.at), at, t.by.bus.Number, epoch, t.time, t.own)
		}
	}
	for key, all := range w.firings {
		if slices.ContainsFunc(w.wrongs, func(wrong string) bool { return strings.Contains(wrong, strconv.Quote(key)) }) {
			w.explainTimer(&b, key, all)
		}
	}
	fmt.Fprint(&b, w.again())
	w.t.Log(b.String())
}

// explainTimer writes what is known of a timer: who has set and removed it, and its last firings.
func (w *world) explainTimer(b *strings.Builder, key string, all []*firing) {
	if t := w.timers[key]; t != nil {
		fmt.Fprintf(b, "%v to %v: process %d sets %q in %v: ID %v, unknown %t, refused %t, twice %t, removed at %v, untouched %d\n",
			w.after(t.begun), w.after(t.answered), t.caller.bus.Number, key, t.in, t.id, t.unknown, t.refused, t.twice,
			w.after(t.removed), t.untouched)
	}
	for at := range w.logs {
		w.logs[at].explain(b, key)
	}
	for _, f := range all[max(0, len(all)-20):] {
		fmt.Fprintf(b, "%v: %+v, over %t, done %t, failed %t, logged at %v, process's time %v to %v\n",
			w.after(f.at), f.Firing, f.over, f.done, f.failed, w.after(f.logged), f.elapsed, f.ended)
	}
}

// after returns when something has happened, or 0 if it has not.
func (w *world) after(t time.Time) time.Duration { return max(0, t.Sub(w.begun)) }

// again returns the command that runs this history again.
func (w *world) again() string {
	return fmt.Sprintf("go test ./internal/simulate -run TestHistories -histories 1 -seed %d -span %v", w.seed, *span)
}

// explain writes what the frames that were sent have of a timer.
func (l *logged) explain(b *strings.Builder, key string) {
	for _, f := range l.frames {
		for op, err := range f.Ops() {
			if err == nil && string(op.Key) == key {
				fmt.Fprintf(b, "frame %d of owner %d, time %d: %v, state %d, ID %d, attempt %d, due %d, next %d\n",
					f.Number, f.Epoch, f.Time, op.Kind, op.State, op.ID.Number, op.Attempt, op.Due, op.Next)
			}
		}
	}
}
