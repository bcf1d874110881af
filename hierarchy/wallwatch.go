package hierarchy

import (
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// A wallWatch belongs to a wheel, and looks at the wall clock as long as a Repeater waits for a wall time. Timers count
// elapsed time, so a wall clock that was set forward, by hand or by the end of a suspension, would otherwise make
// such a Repeater late. One that is set back needs no watch: a Repeater that finds itself early sets its timer again.
type wallWatch struct {
	mu        sync.Mutex
	clock     clock.Clock
	alarm     clock.Alarm // nil until the first Repeater waits
	repeaters []*Repeater // the place of each is its index plus 1
	zero      time.Time   // the wall time of the elapsed time 0, when the Repeaters were last told
	closed    bool
}

const (
	// wallCheck is the interval at which a wallWatch looks.
	wallCheck = 10 * time.Second
	// wallStep is the least step of the wall clock that is noticed.
	wallStep = 50 * time.Millisecond
)

// add makes r follow the wall clock.
func (w *wallWatch) add(r *Repeater) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.repeaters = append(w.repeaters, r)
	r.place = len(w.repeaters)
	if r.place == 1 {
		w.begin()
	}
}

// remove undoes add.
func (w *wallWatch) remove(r *Repeater) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.place == 0 {
		return
	}
	last := len(w.repeaters) - 1
	moved := w.repeaters[last]
	w.repeaters[r.place-1], moved.place = moved, r.place
	w.repeaters[last], r.place = nil, 0
	w.repeaters = w.repeaters[:last]
	if last == 0 {
		w.alarm.Stop()
	}
}

// begin aims the alarm for the first Repeater. On a mock clock, Jump calls look instead. On other clocks that stand
// still between wake-ups nobody sets the wall clock alone. mu must be held.
func (w *wallWatch) begin() {
	if w.alarm == nil {
		w.alarm = w.clock.NewAlarm(w.look)
		if alarm, ok := w.alarm.(clock.MockAlarm); ok {
			alarm.OnJump(w.look)
		}
	}
	w.zero = w.zeroNow()
	w.aim()
}

// aim sets the alarm for the next look. mu must be held.
func (w *wallWatch) aim() {
	if clock.Virtual(w.clock) {
		return
	}
	next := w.clock.Elapsed() + wallCheck
	if alarm, ok := w.alarm.(clock.CoarseSetter); ok {
		alarm.SetCoarse(next)
		return
	}
	w.alarm.Set(next)
}

// zeroNow returns the wall time of the elapsed time 0, by the present wall clock.
func (w *wallWatch) zeroNow() time.Time { return w.clock.Now().Round(0).Add(-w.clock.Elapsed()) }

// look tells the Repeaters if the wall clock was set forward.
func (w *wallWatch) look() {
	for _, r := range w.late() {
		r.follow()
	}
}

// late returns the Repeaters that may be late, as the wall clock was set forward.
func (w *wallWatch) late() []*Repeater {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.repeaters) == 0 {
		return nil
	}
	w.aim()
	zero := w.zeroNow()
	step := zero.Sub(w.zero)
	if step.Abs() < wallStep {
		return nil
	}
	w.zero = zero
	if step < 0 {
		return nil
	}
	return slices.Clone(w.repeaters)
}

// close ends the watch.
func (w *wallWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, r := range w.repeaters {
		r.place = 0
	}
	w.repeaters = nil
	if w.alarm == nil {
		return
	}
	w.alarm.Stop()
	if alarm, ok := w.alarm.(clock.MockAlarm); ok {
		alarm.OnJump(nil)
	}
}

// follow makes the timer due when the wall clock, which was set forward, shows the time of the next run.
func (r *Repeater) follow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.running || r.early || r.plan == nil {
		return
	}
	now := r.wheel.core.Now()
	if due := engine.DeadlineAfter(now, r.wheel.until(r.wall)); due < r.due {
		r.put(now, due, false)
	}
}
