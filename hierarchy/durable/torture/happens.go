//go:build linux

package main

import (
	"context"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// faults makes all faults happen, and returns when all are healed.
func (w *world) faults(ctx context.Context) error {
	begun := time.Now()
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, m := range w.on() {
		if m.during != nil {
			defer m.during(w)()
		}
	}
	var err error
	for _, p := range draw(&w.options) {
		if err = sleep(ctx, time.Until(begun.Add(p.at))); err != nil {
			break
		}
		w.wg.Go(func() { w.happens(limited, p) })
	}
	if err == nil {
		err = sleep(ctx, time.Until(begun.Add(w.length)))
	}
	cancel() // faults still in progress are healed
	w.healed()
	return err
}

// healed waits until no fault is in progress.
func (w *world) healed() {
	for {
		w.mu.Lock()
		busy := w.busy
		w.mu.Unlock()
		if busy == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// happens makes one fault happen, and heals it.
func (w *world) happens(ctx context.Context, p plan) {
	e := judge.Event{Fault: p.fault, From: mono()}
	w.mu.Lock()
	w.busy++
	i := len(w.happen)
	w.happen = append(w.happen, e)
	w.mu.Unlock()
	end := w.begins(p, &e)
	w.say("%s: worker %d, server %d, for %v%s", p.fault, e.Worker, e.Server, p.long, byText(&e))
	_ = sleep(ctx, p.long)
	if end != nil {
		end()
	}
	e.To = mono()
	w.say("%s: over", p.fault)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happen[i] = e
	w.busy--
}

// begins begins a fault, and returns what ends it.
func (w *world) begins(p plan, e *judge.Event) (end func()) {
	for _, m := range w.on() {
		if slices.ContainsFunc(m.faults, func(o often) bool { return o.fault == p.fault }) {
			return m.begins(w, p, e)
		}
	}
	switch p.fault {
	case joinWorker:
		return w.joins()
	case judge.KillWorker, judge.TermWorker, judge.StopWorker, cutWorker, cutLink, flicker, judge.SetClock:
		if all := w.all(); len(all) > 0 {
			return w.onWorker(p, e, all[p.whom%len(all)])
		}
		return nil
	}
	return w.onServers(p, e)
}

// onWorker begins a fault of a worker.
func (w *world) onWorker(p plan, e *judge.Event, m *member) (end func()) {
	e.Worker = m.number
	switch p.fault {
	case judge.KillWorker:
		m.process.End()
		return w.replace
	case judge.TermWorker:
		_ = m.process.Term()
		if p.fate == holds { // the new one comes first, as in most deploys
			w.replace()
			return func() { m.ends() }
		}
		return func() { m.ends(); w.replace() }
	case judge.StopWorker:
		_ = m.process.Stop()
		return func() { _ = m.process.GoOn() }
	case cutWorker:
		return spoil(m.links, p)
	case flicker:
		return m.flicker(p)
	case judge.SetClock:
		if !m.isSet.CompareAndSwap(false, true) { // two jumps are more than one
			return nil
		}
		e.By = p.jump
		m.setClock(p.jump)
		return func() { m.setClock(-p.jump); m.isSet.Store(false) }
	}
	return spoil(m.links[p.whom%len(m.links):][:1], p)
}

// joins makes a further worker join, and leave again.
func (w *world) joins() (end func()) {
	before := w.all()
	w.replace()
	return func() {
		if all := w.all(); len(all) > len(before) && len(all) > w.options.workers {
			_ = all[len(all)-1].process.Term()
			all[len(all)-1].ends()
		}
	}
}

// flicker breaks a worker's connections again and again. What was on its way is lost.
func (m *member) flicker(p plan) (end func()) {
	return repeat(func(func(time.Duration) bool) bool {
		spoil(m.links, plan{fate: cuts})()
		return true
	}, 100*time.Millisecond+5*p.delay)
}

// spoil breaks links, and returns a function that heals them.
func spoil(links []*link, p plan) (heal func()) {
	var heals []func()
	for _, l := range links {
		heals = append(heals, l.spoil(p.fate, p.delay))
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}
