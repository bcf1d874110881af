package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// account collects what was acknowledged and what fired. It gets the records in the order in which the processes wrote
// them.
type account struct {
	judge.History
	timers map[string]*timer
	lives  []*life
	last   *judge.Left // what the last process reported when it left; nil if it was killed
	wrong  []string    // errors that no process should report
}

// timer is what is known about one key.
type timer struct {
	noted    time.Time // when this program learnt that it is set
	removing bool      // Remove was called
	firings  []firing
}

// firing is one call of the handler.
type firing struct {
	life int // which process, from 0
	judge.Record
}

// life is what one process did.
type life struct {
	opened                    int64 // unix ns
	asked, set, removed, fire int
	calls, answers            int // of any kind. answers are those with the result Took
}

func newAccount() *account { return &account{timers: make(map[string]*timer)} }

// begin begins the next process.
func (a *account) begin() *life {
	l := new(life)
	a.lives = append(a.lives, l)
	return l
}

// note takes one record of a process.
func (a *account) note(at int, r judge.Record) {
	a.Add(at+1, []judge.Record{r})
	l := a.lives[at]
	t := a.timers[r.Key]
	if t == nil && r.Key != "" {
		t = new(timer)
		a.timers[r.Key] = t
	}
	switch r.Kind {
	case judge.IsOpen:
		l.opened = r.Time
	case judge.IsCall:
		l.calls++
		if t.removing = r.Op == judge.OpRemove; !t.removing {
			l.asked++
		}
	case judge.IsAnswer:
		a.answered(l, t, r)
	case judge.IsFire:
		l.fire++
		t.firings = append(t.firings, firing{at, r})
	case judge.IsLeft:
		a.last = r.Left
	case judge.IsWrong:
		a.wrong = append(a.wrong, r.Error)
	}
}

// answered counts the answer to a call, if its result is Took.
func (a *account) answered(l *life, t *timer, r judge.Record) {
	if r.Result != judge.Took {
		return
	}
	l.answers++
	switch {
	case r.Op == judge.OpSet:
		l.set++
		t.noted = time.Now()
	case r.OK:
		l.removed++
	default: // it has fired before
		t.removing = false
	}
}

// stopped records that a process is suspended: handlers that had begun may return much later.
func (a *account) stopped(at int) {
	a.Events = append(a.Events, judge.Event{Fault: judge.StopWorker, Worker: at + 1, From: time.Now().UnixNano(), To: 1 << 62})
}

// overdue reports whether a timer that was acknowledged before that time has not fired.
func (a *account) overdue(before time.Time) bool {
	for _, t := range a.timers {
		if !t.noted.IsZero() && !t.removing && len(t.firings) == 0 && t.noted.Before(before) {
			return true
		}
	}
	return false
}

// result is the comparison of what was acknowledged with what fired.
type result struct {
	set, removed int // acknowledged
	doubtful     int // requested but not acknowledged, as the process was killed
	fired        int // timers that fired at least once
	again        int // repeated firings that were recognizable as such: the same ID, no lower attempt
	broken       []string
}

// compare returns the result. broken has a sentence for each promise that did not hold.
func (a *account) compare() (r result) {
	for _, l := range a.lives {
		r.set += l.set
		r.removed += l.removed
		r.doubtful += l.calls - l.answers
	}
	a.Sort()
	found := a.JudgeKeys()
	doubled := found.Keys(judge.Twice)
	for key, t := range a.timers {
		if len(t.firings) > 0 {
			r.fired++
			r.again += len(t.firings) - 1
		}
		if !t.saysSo() {
			doubled = append(doubled, key)
		}
	}
	r.broken = slices.Concat(
		sentence(found.Keys(judge.Lost), "was set and never fired", "were set and never fired"),
		sentence(doubled, "came twice without saying so", "came twice without saying so"),
		sentence(found.Keys(judge.Revived), "fired after it was removed", "fired after they were removed"),
		sentence(found.Keys(judge.Early), "fired before it was due", "fired before they were due"),
		sentence(found.Keys(judge.Stranger), "fired that nobody has set", "fired that nobody has set"),
		a.left(), a.wrong)
	return r
}

// first returns the earliest firing.
func (t *timer) first() (f firing, ok bool) {
	if len(t.firings) == 0 {
		return f, false
	}
	return slices.MinFunc(t.firings, func(a, b firing) int { return cmp.Compare(a.Time, b.Time) }), true
}

// saysSo reports whether each further firing of a timer is recognizable as a repetition by its attempt and epoch.
// Within one epoch there may be none, as each handler returned nil. Whether its ID is the same is judged from the
// records of all processes.
func (t *timer) saysSo() bool {
	slices.SortStableFunc(t.firings, func(a, b firing) int { return cmp.Compare(a.Epoch, b.Epoch) })
	for i, f := range t.firings[min(1, len(t.firings)):] {
		before := t.firings[i]
		if f.Attempt < before.Attempt || f.Epoch == before.Epoch {
			return false
		}
	}
	return true
}

// left returns a sentence for each thing that the last process should not have left behind.
func (a *account) left() []string {
	switch {
	case a.last == nil:
		return []string{"the last process did not end in order"}
	case a.last.Pending+a.last.Dead > 0:
		return []string{fmt.Sprintf("%d timers are pending in the end, and %d are dead", a.last.Pending, a.last.Dead)}
	}
	return nil
}

// sentence returns a sentence about keys for which a promise did not hold, or nothing if there are none.
func sentence(keys []string, one, many string) []string {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	switch n := len(keys); {
	case n == 0:
		return nil
	case n == 1:
		return []string{fmt.Sprintf("one timer %s: %s", one, keys[0])}
	default:
		return []string{fmt.Sprintf("%d timers %s: %q", n, many, keys[:min(n, 5)])}
	}
}
