package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// judge knows what was acknowledged, and what fired. It is told line by line, in the order in
// which the processes wrote them.
type judge struct {
	timers map[string]*timer
	lives  []*life
	last   *counters // what the last process said in the end; nil if it was killed
	wrong  []string  // what a process may never say
}

// timer is what is known of one key.
type timer struct {
	asked    bool      // Set was called
	set      bool      // Set has returned nil
	noted    time.Time // of set
	removing bool      // Remove was called
	removed  int64     // when Remove had returned true, in unix ns, or 0
	firings  []firing
}

// life is what one process did.
type life struct {
	opened                    int64 // unix ns
	stopped                   bool  // with SIGSTOP: handlers that had begun went on much later
	asked, set, removed, fire int
}

func newJudge() *judge { return &judge{timers: make(map[string]*timer)} }

// begin begins the next process.
func (j *judge) begin() *life {
	l := new(life)
	j.lives = append(j.lives, l)
	return l
}

// note takes one line of the last process.
func (j *judge) note(e event) { j.noteOf(len(j.lives)-1, e) }

// noteOf takes one line of a process.
func (j *judge) noteOf(life int, e event) {
	l := j.lives[life]
	t := j.timers[e.key]
	if t == nil && e.key != "" {
		t = new(timer)
		j.timers[e.key] = t
	}
	switch e.kind {
	case "open":
		l.opened = e.at
	case "setting":
		l.asked++
		t.asked = true
	case "set":
		l.set++
		t.set, t.noted = true, time.Now()
	case "removing":
		t.removing = true
	case "removed":
		l.removed++
		t.removed = e.at
	case "gone": // it has fired before
		t.removing = false
	case "fire":
		l.fire++
		e.firing.life = life
		t.firings = append(t.firings, e.firing)
	case "done":
		j.last = &e.counters
	case "failed":
		j.wrong = append(j.wrong, e.problem)
	}
}

// overdue tells whether a timer has not fired that was acknowledged before that time.
func (j *judge) overdue(before time.Time) bool {
	for _, t := range j.timers {
		if t.set && !t.removing && len(t.firings) == 0 && t.noted.Before(before) {
			return true
		}
	}
	return false
}

// result is the comparison of what was acknowledged with what fired.
type result struct {
	set, removed int // acknowledged
	doubtful     int // asked for and not acknowledged, as the process was killed
	fired        int // timers that fired at least once
	again        int // firings that were repeated, and said so: the same ID, no lower attempt
	broken       []string
}

// compare returns the result. broken has a sentence for each promise that did not hold.
func (j *judge) compare() (r result) {
	lost, doubled, revived, early, unknown := finding{}, finding{}, finding{}, finding{}, finding{}
	for key, t := range j.timers {
		r.count(t)
		lost.add(t.set && !t.removing && len(t.firings) == 0, key)
		unknown.add(!t.asked, key)
		revived.add(slices.ContainsFunc(t.firings, func(f firing) bool { return j.revived(t, f) }), key)
		early.add(slices.ContainsFunc(t.firings, func(f firing) bool { return f.at < f.due }), key)
		doubled.add(!t.saysSo(), key)
	}
	r.broken = slices.Concat(
		lost.said("was set and never fired", "were set and never fired"),
		doubled.said("came twice without saying so", "came twice without saying so"),
		revived.said("fired after it was removed", "fired after they were removed"),
		early.said("fired before it was due", "fired before they were due"),
		unknown.said("fired that nobody has set", "fired that nobody has set"),
		j.left(), j.wrong)
	return r
}

func (r *result) count(t *timer) {
	if t.set {
		r.set++
	} else if t.asked {
		r.doubtful++
	}
	if t.removed != 0 {
		r.removed++
	} else if t.removing {
		r.doubtful++
	}
	if len(t.firings) > 0 {
		r.fired++
		r.again += len(t.firings) - 1
	}
}

// first is the earliest firing.
func (t *timer) first() (f firing, ok bool) {
	if len(t.firings) == 0 {
		return f, false
	}
	return slices.MinFunc(t.firings, func(a, b firing) int { return cmp.Compare(a.at, b.at) }), true
}

// revived tells whether a timer has fired after it was removed.
func (j *judge) revived(t *timer, f firing) bool {
	return t.removed != 0 && f.at > t.removed && !j.lives[f.life].stopped
}

// saysSo tells whether each further firing of a timer is known by its ID, attempt and epoch as a
// repetition. Within one epoch there may be none, as each handler returned nil.
func (t *timer) saysSo() bool {
	slices.SortStableFunc(t.firings, func(a, b firing) int { return cmp.Compare(a.epoch, b.epoch) })
	for i, f := range t.firings[min(1, len(t.firings)):] {
		before := t.firings[i]
		if f.id != before.id || f.attempt < before.attempt || f.epoch == before.epoch {
			return false
		}
	}
	return true
}

// left says what the last process has left.
func (j *judge) left() []string {
	switch {
	case j.last == nil:
		return []string{"the last process did not end in order"}
	case j.last.pending+j.last.dead > 0:
		return []string{fmt.Sprintf("%d timers are pending in the end, and %d are dead", j.last.pending, j.last.dead)}
	}
	return nil
}

// finding is keys of which one promise did not hold.
type finding struct{ keys []string }

func (f *finding) add(is bool, key string) {
	if is {
		f.keys = append(f.keys, key)
	}
}

// said is a sentence about the keys, or nothing if there are none.
func (f *finding) said(one, many string) []string {
	slices.Sort(f.keys)
	switch n := len(f.keys); {
	case n == 0:
		return nil
	case n == 1:
		return []string{fmt.Sprintf("one timer %s: %s", one, f.keys[0])}
	default:
		return []string{fmt.Sprintf("%d timers %s: %q", n, many, f.keys[:min(n, 5)])}
	}
}
