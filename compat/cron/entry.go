package cron

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// EntryID is the number of an entry of a Cron. It is never 0, and not used again after Remove.
type EntryID int

// Entry is a snapshot of a job and its schedule.
type Entry struct {
	// ID is for Cron.Entry and Cron.Remove.
	ID EntryID

	// Schedule determines when the job runs.
	Schedule Schedule

	// Next is the time of the next run, or the zero time if there is none, or the Cron was never started.
	Next time.Time

	// Prev is the time of the last run, or the zero time if there was none.
	Prev time.Time

	// WrappedJob is what runs: Job in the wrappers of the Cron.
	WrappedJob Job

	// Job is what was added.
	Job Job
}

// Valid reports whether the entry was found, and is not the zero Entry.
func (e Entry) Valid() bool { return e.ID != 0 }

// Entries returns a snapshot of all entries, in order of their next time, without one last, and then of their ID.
func (c *Cron) Entries() []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries := make([]Entry, 0, len(c.entries))
	for _, e := range c.sorted() {
		entries = append(entries, e.Entry)
	}
	return entries
}

// Entry returns a snapshot of an entry, or the zero Entry if there is none with that ID.
func (c *Cron) Entry(id EntryID) Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[id]; e != nil {
		return e.Entry
	}
	return Entry{}
}

// sorted returns the entries in the order of Entries. mu must be held.
func (c *Cron) sorted() []*entry {
	entries := make([]*entry, 0, len(c.entries))
	for _, e := range c.entries {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *entry) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			return -a.Next.Compare(b.Next) // the zero time is the earliest
		}
		return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.ID, b.ID))
	})
	return entries
}

// An entry is an Entry of a Cron. All is guarded by the Cron's mu.
type entry struct {
	Entry
	cron     *Cron
	repeater *hierarchy.Repeater // nil unless the Cron runs
}

// begin sets the timer for the first run after now, since the Cron runs now. event is what is logged.
func (e *entry) begin(event string, now time.Time) {
	c := e.cron
	e.Next = e.Schedule.Next(now)
	c.logger.Info(event, "now", now, "entry", e.ID, "next", e.Next)
	p := &plan{entry: e, wheel: c.wheel}
	var s hierarchy.Schedule = p
	if rule, ok := e.Schedule.(ruled); ok {
		s = struct {
			*plan
			ruled
		}{p, rule}
	}
	var err error
	if e.repeater, err = c.wheel.Schedule(s, p.run); err != nil {
		panic("cron: " + err.Error()) // the wheel is not stopped, and has no limit
	}
}

// ruled is a Schedule with a rule for missed runs, see hierarchy.Missed.
type ruled interface{ Missed() hierarchy.Missed }

// end stops the timer.
func (e *entry) end() {
	if e.repeater != nil {
		e.repeater.Stop()
		e.repeater = nil
	}
}

// A plan is what the wheel knows of an entry. The wheel calls run and then Next for each run. Only Next starts the job,
// so that the job finds the time of its next run in its Entry.
type plan struct {
	entry *entry
	wheel *hierarchy.Wheel
	asked bool // used only by the calls of the wheel, which never overlap, as is due
	due   bool // run was called, and Next not yet
}

func (p *plan) run() { p.due = true }

// Next returns the time of the next run. The first call is that of begin, which holds the Cron's mu.
func (p *plan) Next(after time.Time) time.Time {
	if !p.asked {
		p.asked = true
		return notBefore(p.entry.Next, after)
	}
	starts, next := p.next(after)
	if starts {
		p.entry.cron.startJob(p.entry.WrappedJob)
	}
	return next
}

// notBefore returns t or, if t has passed, a time that makes the run due at once.
func notBefore(t, now time.Time) time.Time {
	if t.IsZero() || t.After(now) {
		return t
	}
	return now.Add(1)
}

// next moves the entry to its next run. It reports whether the job starts now.
func (p *plan) next(after time.Time) (starts bool, next time.Time) {
	e, c := p.entry, p.entry.cron
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wheel != p.wheel || c.entries[e.ID] != e { // stopped or removed meanwhile
		return false, time.Time{}
	}
	starts, p.due = p.due, false
	if starts {
		e.Prev = e.Next
		c.running++
	}
	now := after.In(c.location)
	e.Next = e.following(now)
	c.logger.Info("run", "now", now, "entry", e.ID, "next", e.Next)
	return starts, e.Next
}

var errNotLater = errors.New("the schedule returned a time that is not later than the given one: there is no further run")

// following returns the next time of the schedule. A schedule that does not advance would run without end.
func (e *entry) following(now time.Time) time.Time {
	next := e.Schedule.Next(now)
	if !next.IsZero() && !next.After(now) {
		e.cron.logger.Error(errNotLater, "schedule", "entry", e.ID, "now", now, "next", next)
		return time.Time{}
	}
	return next
}
