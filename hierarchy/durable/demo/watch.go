package main

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// watch follows one process: it collects its records, and kills it.
type watch struct {
	*demo
	process *child.Process
	life    *life
	last    bool      // the process is not killed
	told    bool      // it was killed, or told to finish
	since   time.Time // when it was open, or told to finish
	bar     *terminal.Progress
}

// follow follows the process, and returns when it has ended.
func (w *watch) follow() error {
	w.phase(fmt.Sprintf("process %d", len(w.lives)), w.demo.life)
	defer func() { w.bar.End() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case e := <-w.says:
			if !e.more {
				return w.ended()
			}
			w.note(e.process, e.Record)
			w.opened(e.Record)
		case <-tick.C:
			w.bar.At(int(time.Since(w.since).Milliseconds()))
			if err := w.act(); err != nil {
				return err
			}
		}
	}
}

// phase begins a line of progress for a phase of that length.
func (w *watch) phase(what string, long time.Duration) {
	if w.bar != nil {
		w.bar.End()
	}
	w.since = time.Now()
	w.bar = w.Progress(what, int(long.Milliseconds()))
}

// opened records how long it took until the timers were open again.
func (w *watch) opened(r judge.Record) {
	if r.Kind != judge.IsOpen {
		return
	}
	w.since = time.Now()
	if !w.died.IsZero() {
		w.back = append(w.back, w.since.Sub(w.died))
	}
}

// act kills the process when it has lived long enough. The last process is instead told to finish.
func (w *watch) act() error {
	if w.told || w.life.opened == 0 || time.Since(w.since) < w.demo.life || w.life.set < leastSet {
		return nil
	}
	w.told = true
	if w.last {
		w.phase("the last timers fire", latest)
		return w.process.Tell(sayFinish)
	}
	w.died = time.Now()
	w.process.Kill()
	return nil
}

// ended checks how a process has ended.
func (w *watch) ended() error {
	w.bar.End()
	if err := howEnded(w.process, w.told && !w.last); err != nil {
		return err
	}
	n, l := len(w.lives), w.life
	back, end := "", "ended when all had fired"
	if n > 1 && len(w.back) == n-1 {
		back = fmt.Sprintf("was back after %s, ", terminal.Span(w.back[n-2]))
	}
	if !w.last {
		end = w.Paint(terminal.Yellow, "kill -9")
	}
	w.Line(fmt.Sprintf("%s%s %sset %s timers, %s fired: %s", terminal.Indent, w.Paint(terminal.Bold, fmt.Sprintf("process %d", n)),
		back, terminal.Count(l.set), terminal.Count(l.fire), end))
	return nil
}
