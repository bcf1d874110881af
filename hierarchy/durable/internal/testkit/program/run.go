package program

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// Door is a way to timers.
type Door interface {
	// Open opens all that the door needs, also after Close. What fires is passed to w.Fire.
	Open(t *testing.T, w *World)
	// Do carries out an operation of a kind that the programs have.
	Do(op *Op) Answer
	// Close ends all in order.
	Close()
}

// Answer is what a door says to an operation.
type Answer struct {
	OK     bool // the operation was done
	Text   string
	Timers []Timer  // that were set or found
	Each   []Answer // of a Batch
}

// Timer is a timer as a door shows it. What a door does not show is zero.
type Timer struct {
	Key, Value, ID        string
	Due, Next, LastFailed time.Time
	Attempt               int
	State, Schedule       string
	LastError             string
	Paused                bool
}

// Firing is an attempt.
type Firing struct {
	Key, Value, ID  string
	Due             time.Time
	Attempt, Missed int
	at              time.Time
}

// World is what a door runs in.
type World struct {
	Config
	Mock *clock.Mock // the clock, or nil in virtual time

	begun time.Time
	ids   map[string]int
	lines []string
	mu    sync.Mutex
	fired []Firing
}

// Backoff is the pause after each failed attempt.
const Backoff = 3 * time.Second

// Now returns the present time of the door.
func (w *World) Now() time.Time {
	if w.Mock != nil {
		return w.Mock.Now()
	}
	return time.Now()
}

// Fire records an attempt, and returns its result, which is the same whatever door it comes from.
func (w *World) Fire(f Firing) error {
	if w.Firings != nil {
		w.Firings(&f)
	}
	f.at = w.Now()
	what := fmt.Sprint(f.Key, f.Value, w.since(f.Due), f.Attempt)
	h := fnv.New32()
	h.Write([]byte(what))
	sum := h.Sum32() >> 8 // the lowest bits are those of the text
	w.mu.Lock()
	w.fired = append(w.fired, f)
	w.mu.Unlock()
	if w.Slow {
		time.Sleep(time.Duration(sum%3)*time.Second + time.Duration(sum%1_000_000)) // ends at a time at which nothing else happens
	}
	if sum%2 == 0 {
		return errors.New("fails: " + what)
	}
	return nil
}

// since returns the time since the begin of the program.
func (w *World) since(t time.Time) time.Duration {
	if t.IsZero() {
		return -1
	}
	if d := t.Sub(w.begun); w.Grid > time.Millisecond {
		return d.Truncate(w.Grid)
	} else {
		return d
	}
}

// Run returns what happens when a program runs through a door: by a mock clock, or else by the time of package time, which
// must be that of a bubble of testing/synctest. restarts is whether the processes begin again in between.
func (c Config) Run(t *testing.T, seed uint64, d Door, mock *clock.Mock, restarts bool) []string {
	if c.Kinds == nil {
		c.Kinds = All
	}
	if c.Batched == nil {
		c.Batched = Batched
	}
	c.Grid = max(c.Grid, time.Millisecond)
	bubbles := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // when the time of a bubble begins
	if mock != nil {
		mock.Set(bubbles)
	}
	w := &World{Config: c, Mock: mock, ids: make(map[string]int), begun: bubbles.Add(time.Minute)}
	d.Open(t, w)
	defer func() { d.Close() }()
	w.until(w.begun, true) // by then the processes have shared the partitions
	now := w.begun
	for n, s := range c.steps(seed) {
		if s.restart { // nothing is due: Open may fire it, or not yet
			w.until(now, true)
		}
		now = now.Add(s.pass)
		if s.restart && restarts {
			d.Close()
			w.until(now, true)
			d.Open(t, w)
		}
		if s.restart || s.pass > 0 {
			w.until(now, true)
		}
		if s.op != nil {
			a := d.Do(s.op)
			w.answered(n, s.op, &a)
		}
		w.until(now, !c.Lazy)
		w.drain()
	}
	return w.lines
}

// until lets time pass until a time. If settles is true, all that is due then has fired when until returns.
func (w *World) until(t time.Time, settles bool) {
	switch d := t.Sub(w.Now()); {
	case w.Mock != nil && (d > 0 || settles):
		w.Mock.Add(d)
	case w.Mock == nil:
		time.Sleep(d)
		synctest.Wait()
	}
}

func (w *World) say(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// id returns a number for an ID: the first one that the program sees is 1.
func (w *World) id(id string) int {
	if id != "" && w.ids[id] == 0 {
		w.ids[id] = len(w.ids) + 1
	}
	return w.ids[id]
}

func (w *World) answered(n int, op *Op, a *Answer) {
	w.hide(op, a)
	w.say("%d: %+v: %v", n, *op, w.text(a))
}

// hide hides what is not compared, also in the answers of a Batch.
func (w *World) hide(op *Op, a *Answer) {
	if w.Answers != nil {
		w.Answers(op, a)
	}
	for i := range a.Each {
		w.hide(&op.Ops[i], &a.Each[i])
	}
}

func (w *World) text(a *Answer) string {
	s := fmt.Sprint(a.OK, " ", a.Text)
	for _, t := range a.Timers {
		s += fmt.Sprintf("\n\t%s %s, #%d, due %v, attempt %d, next %v, state %s, schedule %s, paused %v, failed %v with %q", t.Key, t.Value,
			w.id(t.ID), w.since(t.Due), t.Attempt, w.since(t.Next), t.State, t.Schedule, t.Paused, w.since(t.LastFailed), t.LastError)
	}
	for i := range a.Each {
		s += "\n\t" + w.text(&a.Each[i])
	}
	return s
}

// drain records what has fired, in an order.
func (w *World) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := func(f Firing) string {
		return fmt.Sprintf("%v: %s %s, due %v, attempt %d, missed %d", w.since(f.at), f.Key, f.Value, w.since(f.Due), f.Attempt, f.Missed)
	}
	slices.SortFunc(w.fired, func(a, b Firing) int {
		if c := a.at.Truncate(w.Grid).Compare(b.at.Truncate(w.Grid)); c != 0 {
			return c
		}
		return slices.Compare([]string{text(a)}, []string{text(b)})
	})
	for _, f := range w.fired {
		w.say("%s, #%d", text(f), w.id(f.ID))
	}
	w.fired = nil
}

// Same fails unless the same has happened.
func Same(t *testing.T, want, got []string, what ...any) {
	t.Helper()
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	part := func(lines []string) []string { return lines[max(0, min(n-5, len(lines))):min(n+3, len(lines))] }
	require.Equal(t, part(want), part(got), what...)
	require.Len(t, got, len(want), what...)
}
