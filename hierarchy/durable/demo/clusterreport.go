package main

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// report shows the result.
func (d *clusterDemo) report(took time.Duration) error {
	r := d.compare()
	d.Heading("What was acknowledged, and what came of it")
	d.perWorker()
	d.faults()
	bars(d.Screen, "How late all timers were", clusterClasses, d.late())
	d.Line("")
	d.sayResult(r)
	d.Say("All this took %s.", terminal.Span(took))
	if d.kept {
		d.Say("The files are in %s.", d.dir)
	}
	if err := broken(r.broken); err != nil {
		return err
	}
	return d.Err()
}

var clusterClasses = terminal.Classes(200*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2*time.Millisecond,
	5*time.Millisecond, 20*time.Millisecond, 50*time.Millisecond, 200*time.Millisecond, time.Second, 5*time.Second)

// perWorker shows a column for each worker.
func (d *clusterDemo) perWorker() {
	rows := [][]string{{"worker"}, {"timers set, acknowledged"}, {"asked for, not acknowledged"},
		{"removed, acknowledged"}, {"fired"}}
	for i, l := range d.lives {
		for j, text := range []string{fmt.Sprint(i + 1), terminal.Count(l.set), terminal.Count(l.asked - l.set),
			terminal.Count(l.removed), terminal.Count(l.fire)} {
			rows[j] = append(rows[j], text)
		}
	}
	showTable(d.Screen, rows)
}

// faults shows how late timers were after each event.
func (d *clusterDemo) faults() {
	rows := [][]string{{"after", "timers", "half within", "all within"}}
	for i, e := range d.events {
		to := int64(1<<63 - 1)
		if i+1 < len(d.events) {
			to = d.events[i+1].at.UnixNano()
		}
		late := d.lateFrom(e.at.UnixNano(), to)
		rows = append(rows, []string{e.text, terminal.Count(len(late)), terminal.Span(late.Quantile(0.5)), terminal.Span(late.Quantile(1))})
	}
	d.Line("")
	d.Line(terminal.Indent + d.Paint(terminal.Bold, "How late timers were that fell due after each event, until the next"))
	showTable(d.Screen, rows)
}

func (d *clusterDemo) late() terminal.Delays { return d.lateFrom(0, 1<<63-1) }

// lateFrom returns how late the first firing of each timer was that fell due from one time to another.
func (d *clusterDemo) lateFrom(from, to int64) (all terminal.Delays) {
	for _, t := range d.timers {
		if f, ok := t.first(); ok && f.Due >= from && f.Due < to {
			all = append(all, time.Duration(f.Time-f.Due))
		}
	}
	all.Sort()
	return all
}

func (d *clusterDemo) sayResult(r result) {
	if len(r.broken) > 0 {
		sayBroken(d.Screen, r)
		return
	}
	again := "None came a second time."
	if r.again > 0 {
		again = terminal.Count(r.again) + ` came a second time, from another owner: with the ID of the first time and
			another epoch, by which a handler can tell.`
	}
	d.Say(`%s timers were set and acknowledged, %s of them removed. None of the others was lost. None
		fired early, and none after it was removed. %s Of %s calls there was no answer. These timers may
		fire or not.`,
		terminal.Count(r.set), terminal.Count(r.removed), again, terminal.Count(r.doubtful))
}
