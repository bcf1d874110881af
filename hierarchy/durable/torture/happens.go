//go:build linux

package main

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// faults makes all faults happen, and returns when all are healed.
func (w *world) faults(ctx context.Context) error {
	begun := time.Now()
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
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
	e := judge.Event{Fault: p.fault, From: w.clock.nano()}
	w.mu.Lock()
	w.busy++
	i := len(w.happen)
	w.happen = append(w.happen, e)
	w.mu.Unlock()
	end := w.begins(p, &e)
	w.say("%s: worker %d, server %d, for %v", p.fault, e.Worker, e.Server, p.long)
	_ = sleep(ctx, p.long)
	if end != nil {
		end()
	}
	e.To = w.clock.nano()
	w.say("%s: over", p.fault)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happen[i] = e
	w.busy--
}

// begins begins a fault, and returns what ends it.
func (w *world) begins(p plan, e *judge.Event) (end func()) {
	switch p.fault {
	case joinWorker:
		return w.joins()
	case killWorker, termWorker, judge.StopWorker, cutWorker, cutLink, flicker:
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
	case killWorker:
		m.process.End()
		return w.replace
	case termWorker:
		_ = m.process.Term()
		if p.first { // the new one comes first, as in most deploys
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
	enough, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			spoil(m.links, plan{fate: cuts})()
			select {
			case <-time.After(p.pause):
			case <-enough:
				return
			}
		}
	}()
	return func() { close(enough); <-ended }
}

// spoil breaks links, and returns a function that heals them.
func spoil(links []*link, p plan) (heal func()) {
	var heals []func()
	for _, l := range links {
		heals = append(heals, l.spoil(p.fate))
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}
