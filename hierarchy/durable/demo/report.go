package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	whatWide  = 40
	valueWide = 12
	barWide   = 40
)

// report shows the result.
func (d *demo) report(took time.Duration) error {
	r := d.compare()
	d.Heading("What was acknowledged, and what came of it")
	d.table()
	d.lateness()
	d.Line("")
	d.sayResult(r)
	d.Say("All this took %s. The log took %s of disk in the end.", terminal.Span(took), terminal.Amount(d.logBytes()))
	if d.kept {
		d.Say("The files are in %s.", d.dir)
	}
	if err := broken(r.broken); err != nil {
		return err
	}
	return d.Err()
}

func (d *demo) logBytes() int64 {
	if d.last == nil {
		return 0
	}
	return d.last.LogBytes
}

// table shows a column for each process.
func (d *demo) table() {
	rows := [][]string{{"process"}, {"timers set, acknowledged"}, {"asked for, not acknowledged"}, {"removed, acknowledged"},
		{"fired"}, {"the same timer once more, said so"}, {"back after the kill in"}}
	again := d.again()
	for i, l := range d.lives {
		back := "–"
		if i > 0 && i <= len(d.back) {
			back = terminal.Span(d.back[i-1])
		}
		for j, text := range []string{fmt.Sprint(i + 1), terminal.Count(l.set), terminal.Count(l.asked - l.set),
			terminal.Count(l.removed), terminal.Count(l.fire), terminal.Count(again[i]), back} {
			rows[j] = append(rows[j], text)
		}
	}
	showTable(d.Screen, rows)
}

// again counts, for each process, the firings that were not the first of their timer.
func (d *demo) again() []int {
	n := make([]int, len(d.lives))
	for _, t := range d.timers {
		for _, f := range t.firings[min(1, len(t.firings)):] {
			n[f.life]++
		}
	}
	return n
}

var classes = terminal.Classes(200*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2*time.Millisecond,
	5*time.Millisecond, 10*time.Millisecond, 20*time.Millisecond, 50*time.Millisecond, 200*time.Millisecond)

// lateness shows how late timers were: those that fell due while a process was running, and those that had to wait for
// one.
func (d *demo) lateness() {
	there, waited := d.late()
	there.Sort()
	waited.Sort()
	bars(d.Screen, "How late timers were while a process was there", classes, there)
	d.Say("%s timers fell due while no process was there. They fired when it was back, at most %s after they were due.",
		terminal.Count(len(waited)), terminal.Span(waited.Quantile(1)))
}

// late returns the lateness of each timer's first firing: of timers that fell due while the process was running, and of
// the others.
func (d *demo) late() (there, waited terminal.Delays) {
	for _, t := range d.timers {
		if len(t.firings) == 0 {
			continue
		}
		f := t.firings[0]
		late := time.Duration(f.Time - f.Due)
		if f.Due >= d.lives[f.life].opened {
			there = append(there, late)
		} else {
			waited = append(waited, late)
		}
	}
	return there, waited
}

func (d *demo) sayResult(r result) {
	if len(r.broken) > 0 {
		sayBroken(d.Screen, r)
		return
	}
	d.Say(`%s timers were set and acknowledged, %s of them removed. None of the others was lost. None
		fired early, and none after it was removed. %s came a second time, after a kill:
		each with the ID of the first time, by which a handler can tell. Of %s calls the process was
		killed before it had the answer. These timers may fire or not.`,
		terminal.Count(r.set), terminal.Count(r.removed), terminal.Count(r.again), terminal.Count(r.doubtful))
}

func sayBroken(s *terminal.Screen, r result) {
	s.Say("%s", s.Paint(terminal.Yellow, "Some promises did not hold: "+strings.Join(r.broken, "; ")+"."))
}

// bars shows how many timers were in each class of lateness. late is sorted.
func bars(s *terminal.Screen, title string, classes []terminal.Class, late terminal.Delays) {
	s.Line("")
	s.Line(terminal.Indent + s.Paint(terminal.Bold, title))
	for _, c := range classes {
		n := late.Within(c.From, c.Limit)
		s.Line(fmt.Sprintf("%s%s%8s %s", terminal.Indent, terminal.Left(c.Name, 14), terminal.Some(n),
			s.Paint(terminal.Green, terminal.Bar(n, len(late), barWide))))
	}
	s.Line("")
	s.Say("Half of these %s were late by at most %s, and 99 %% by at most %s.",
		terminal.Count(len(late)), terminal.Span(late.Quantile(0.5)), terminal.Span(late.Quantile(0.99)))
}

// showTable shows rows, of which the first is the heading.
func showTable(s *terminal.Screen, rows [][]string) {
	for i, r := range rows {
		line := terminal.Indent + terminal.Left(r[0], whatWide)
		for _, text := range r[1:] {
			line += terminal.Right(text, valueWide*3/len(r[1:]))
		}
		if i == 0 {
			s.Line(s.Paint(terminal.Bold, line))
			s.Line(terminal.Indent + s.Paint(terminal.Faint, strings.Repeat("─", whatWide+3*valueWide)))
			continue
		}
		s.Line(line)
	}
}
