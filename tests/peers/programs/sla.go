package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// slaProgram sets a timer for each order, of which few fire.
func slaProgram() program {
	return program{
		name:  "sla",
		what:  "%s timers, 10,000 set in a second, 99 %% cancelled",
		unit:  "timer: set, and cancelled or fired",
		each:  "pending timer with its function",
		late:  "how late timers fire",
		full:  size{N: 50_000, Lifetime: 3 * time.Second},
		quick: size{N: 4000, Lifetime: 300 * time.Millisecond},
		work:  func(s size) int { return s.N },
		ways: []way{
			{"time.AfterFunc", false, runSLA(newTimeSLA)},
			{"Wheel.AfterFunc", true, runSLA(newWheelSLA)},
			{"Keyed", true, runSLA(newKeyedSLA)},
		},
	}
}

// slaTimers has a timer for each order.
type slaTimers interface {
	set(order int, d time.Duration) error
	cancel(order int) bool
	stop()
}

// orders are set in steps. One of a hundred is not cancelled.
type orders struct {
	size
	start   time.Time
	due     []time.Duration // of each, since start
	cancels [][]int         // in each step
	pending int
	late    *lateness
}

const (
	slaStep    = 10 * time.Millisecond
	slaPerStep = 100
	slaFires   = 100 // one of so many
)

func newOrders(size size) *orders {
	o := &orders{size: size, due: make([]time.Duration, size.N), late: newLateness(size.N / slaFires)}
	random := rand.New(rand.NewPCG(1, 2))
	o.cancels = make([][]int, size.N/slaPerStep+int(size.Lifetime/slaStep))
	for i := range size.N {
		if i%slaFires > 0 {
			step := i/slaPerStep + 1 + random.IntN(int(size.Lifetime/slaStep)*9/10)
			o.cancels[step] = append(o.cancels[step], i)
		}
	}
	return o
}

func (o *orders) fired(order int) { o.late.add(time.Since(o.start) - o.due[order]) }

func runSLA(of func(*orders) (slaTimers, error)) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		o := newOrders(size)
		timers, err := of(o)
		if err != nil {
			return f, err
		}
		defer timers.stop()
		before := liveBytes()
		o.start = time.Now()
		m := newMeter()
		for step := range o.cancels {
			time.Sleep(time.Until(o.start.Add(time.Duration(step) * slaStep)))
			if err := o.step(timers, step); err != nil {
				return f, err
			}
			if step == size.N/slaPerStep-1 {
				cpu := cpuTime()
				f.each(o.pending, before)
				m.cpu += cpuTime() - cpu
			}
		}
		err = o.late.wait(ctx, &f)
		m.stop(&f, size.N)
		f.N = size.N
		return f, err
	}
}

// step sets what is new, and cancels what is done.
func (o *orders) step(timers slaTimers, step int) error {
	for i := step * slaPerStep; i < min(o.N, (step+1)*slaPerStep); i++ {
		o.due[i] = time.Since(o.start) + o.Lifetime
		if err := timers.set(i, o.Lifetime); err != nil {
			return err
		}
		o.pending++
	}
	for _, i := range o.cancels[step] {
		if !timers.cancel(i) {
			return fmt.Errorf("%w: order %d", errSlow, i)
		}
		o.pending--
	}
	return nil
}

// timeSLA has timers of package time.
type timeSLA struct {
	*orders
	timers []*time.Timer
}

func newTimeSLA(o *orders) (slaTimers, error) {
	return &timeSLA{o, make([]*time.Timer, o.N)}, nil
}

func (t *timeSLA) set(order int, d time.Duration) error {
	t.timers[order] = time.AfterFunc(d, func() { t.fired(order) })
	return nil
}

func (t *timeSLA) cancel(order int) bool {
	stopped := t.timers[order].Stop()
	t.timers[order] = nil
	return stopped
}

func (t *timeSLA) stop() {}

// wheelSLA has timers of a wheel.
type wheelSLA struct {
	*orders
	timers []hierarchy.Timer
	wheel  *hierarchy.Wheel
}

func newWheelSLA(o *orders) (slaTimers, error) {
	w, err := hierarchy.New(hierarchy.Config{})
	return &wheelSLA{o, make([]hierarchy.Timer, o.N), w}, err
}

func (w *wheelSLA) set(order int, d time.Duration) (err error) {
	w.timers[order], err = w.wheel.AfterFunc(d, func() { w.fired(order) })
	return err
}

func (w *wheelSLA) cancel(order int) bool {
	stopped := w.timers[order].Stop()
	w.timers[order] = hierarchy.Timer{}
	return stopped
}

func (w *wheelSLA) stop() { w.wheel.Stop() }

// keyedSLA finds its timers by the numbers of orders.
type keyedSLA struct {
	timers *hierarchy.Keyed[int, struct{}]
}

func newKeyedSLA(o *orders) (slaTimers, error) {
	k, err := hierarchy.NewKeyed(hierarchy.Config{}, func(order int, _ struct{}) { o.fired(order) })
	return keyedSLA{k}, err
}

func (k keyedSLA) set(order int, d time.Duration) error { return k.timers.Set(order, struct{}{}, d) }

func (k keyedSLA) cancel(order int) bool {
	_, ok := k.timers.Remove(order)
	return ok
}

func (k keyedSLA) stop() { k.timers.Stop() }
