package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
	"github.com/epicycle-go/epicycle/docs/tour/ring"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// slots is the number of slots of the ring whose moves are shown.
const slots = 10

// moved shows when moved timers fire, in go-zero's wheel and in package compat, its drop-in
// replacement with the same names.
func (t *tour) moved() error {
	t.Heading("6. Moving a timer")
	t.Say(`Every keep-alive moves a timeout. Many Go services use the timing wheel of go-zero.
		It is a single circle whose timers count the turns they still have to wait, and a
		move can get that number wrong. Package compat has the same names and replaces it:
		you change one import path. The ring shown here reimplements the arithmetic of
		go-zero v1.10.3, and is tested to behave like the original.`)
	t.Line("")
	c := course{set: 5, elapsed: 3, move: 19}
	theirs, ours, err := playBoth([]course{c})
	if err != nil {
		return err
	}
	t.Say("On %d slots, a timer is set for %d ticks. After %d ticks it is moved to %d ticks from then.",
		slots, c.set, c.elapsed, c.move)
	t.Line("")
	t.moves(c, theirs[0]-c.elapsed, ours[0]-c.elapsed)
	return t.allMoves()
}

// moves shows after how many ticks a moved timer ran.
func (t *tour) moves(c course, byRing, byCompat int) {
	for _, r := range []struct {
		name  string
		style terminal.Style
		ticks int
	}{{"go-zero", theirs, byRing}, {"compat", ours, byCompat}} {
		outcome := "on time"
		switch off := r.ticks - c.move; {
		case off < 0:
			outcome = fmt.Sprintf("%d ticks early", -off)
		case off > 0:
			outcome = fmt.Sprintf("%d ticks late", off)
		}
		t.Line(terminal.Indent + terminal.Left(r.name, 8) + "fires after " + terminal.Right(fmt.Sprint(r.ticks), 2) + "  " +
			t.Paint(r.style, terminal.Left(strings.Repeat("·", r.ticks)+"●", c.move+3)) + outcome)
	}
	t.Line("")
}

// allMoves tries all moves of up to three turns, and counts the moves that go wrong.
func (t *tour) allMoves() error {
	cs := everyCourse(3 * slots)
	theirs, ours, err := playBoth(cs)
	if err != nil {
		return err
	}
	ringWrong, compatWrong := wrong(cs, theirs), wrong(cs, ours)
	t.Say("Of all %s moves of up to three turns, go-zero fires %s at the wrong tick, compat %d.",
		terminal.Count(len(cs)), terminal.Count(ringWrong), compatWrong)
	if compatWrong > 0 {
		return broken("compat ran %d of %d timers at the wrong time", compatWrong, len(cs))
	}
	return nil
}

// course is a timer that is set to run after set ticks. When elapsed ticks have passed, it is moved to run after move
// more ticks.
type course struct{ set, elapsed, move int }

func (c course) due() int { return c.elapsed + c.move }

// everyCourse returns every course of up to most ticks whose timer is moved before it would
// have run.
func everyCourse(most int) (cs []course) {
	for set := 1; set <= most; set++ {
		for elapsed := range set {
			for move := 1; move <= most; move++ {
				cs = append(cs, course{set, elapsed, move})
			}
		}
	}
	return cs
}

// wrong returns the number of courses that did not run at their deadline.
func wrong(cs []course, ran []int) (n int) {
	for key, c := range cs {
		if ran[key] != c.due() {
			n++
		}
	}
	return n
}

// ticked is a wheel on which courses are played. Each course has its own key.
type ticked interface {
	Set(key, ticks int)
	Move(key, ticks int)
	Tick() (run []int)
}

// playBoth returns the tick at which each course ran, on go-zero's ring and on compat.
func playBoth(cs []course) (onRing, onCompat []int, err error) {
	m, err := newMocked(slots)
	if err != nil {
		return nil, nil, err
	}
	defer m.wheel.Stop()
	onCompat = play(cs, m)
	return play(cs, ring.New(slots)), onCompat, m.err
}

// play returns the tick at which each course ran, or 0 if it did not run.
func play(cs []course, w ticked) []int {
	last := 0
	for key, c := range cs {
		w.Set(key, c.set)
		last = max(last, c.set, c.due())
	}
	ran := make([]int, len(cs))
	for now := range last + 3*slots {
		for key, c := range cs {
			if c.elapsed == now {
				w.Move(key, c.move)
			}
		}
		for _, key := range w.Tick() {
			ran[key] = now + 1
		}
	}
	return ran
}

// mocked is compat's wheel on a mock clock. A tick is a second.
type mocked struct {
	clock *clock.Mock
	wheel *compat.TimingWheel
	run   []int
	err   error
}

func newMocked(slots int) (*mocked, error) {
	m := &mocked{clock: clock.NewMock()}
	var err error
	m.wheel, err = compat.NewTimingWheelWithClock(time.Second, slots, func(key, _ any) {
		m.run = append(m.run, key.(int))
	}, m.clock)
	return m, err
}

func (m *mocked) Set(key, ticks int) {
	m.note(m.wheel.SetTimer(key, nil, time.Duration(ticks)*time.Second))
}

func (m *mocked) Move(key, ticks int) {
	m.note(m.wheel.MoveTimer(key, time.Duration(ticks)*time.Second))
}

func (m *mocked) Tick() []int {
	m.run = m.run[:0]
	m.clock.Add(time.Second)
	return m.run
}

func (m *mocked) note(err error) {
	if m.err == nil {
		m.err = err
	}
}
