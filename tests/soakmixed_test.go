package tests

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// mixedSite is a Wheel with all other kinds of timers beside some plain ones. How often
// those fire is not known exactly, so its counters only have lower bounds.
type mixedSite struct {
	*timerSite
	w         *hierarchy.Wheel
	received  atomic.Int64 // by channels
	mu        sync.Mutex
	repeaters []*repeat // guarded by mu; of this phase
	runs      int       // of repeaters of phases that are over
}

func (s *soak) newMixedSite(p plan) site {
	x := &mixedSite{timerSite: s.newWheelSite(p).(*timerSite)}
	x.name += ", mixed"
	x.w = x.wheel.(*hierarchy.Wheel)
	return x
}

func (x *mixedSite) burst() {}

func (x *mixedSite) load(over func() bool) {
	for range 3 {
		x.every()
		x.schedule()
	}
	for !over() {
		switch rand.IntN(8) {
		case 0, 1:
			x.channel()
		case 2:
			x.after()
		case 3:
			x.sleep()
		case 4:
			x.every()
		case 5:
			x.schedule()
		case 6:
			x.add(soon(), 0)
		case 7:
			x.change()
		}
	}
}

// notEarly counts an event at a time and reports a fault if it came before from.
func (x *mixedSite) notEarly(what string, at, from time.Duration) {
	x.received.Add(1)
	if early := from - at; early > 0 {
		x.faults.add("%s: %s %v early", x.name, what, early)
	}
}

// channel sets a ChanTimer that only this goroutine uses, so the results of all calls
// are known.
func (x *mixedSite) channel() {
	d := soon()
	from := monotonic() + d
	c, err := x.w.NewTimer(d)
	if !x.excused(err) {
		return
	}
	for range rand.IntN(4) {
		received := x.perhaps(c.C, d, from)
		d = soon()
		from = monotonic() + d
		if c.Reset(d) == received {
			x.faults.add("%s: Reset of a ChanTimer returned %v", x.name, received)
		}
	}
	received := x.perhaps(c.C, d, from)
	if c.Stop() == received || c.Stop() {
		x.faults.add("%s: Stop of a ChanTimer returned a wrong result", x.name)
	}
	select {
	case <-c.C:
		x.faults.add("%s: a ChanTimer had a second value, or one after Stop", x.name)
	default:
	}
}

// perhaps receives from c, or sleeps until about the time a value comes, or does nothing.
func (x *mixedSite) perhaps(c <-chan time.Time, d, from time.Duration) (received bool) {
	switch rand.IntN(4) {
	case 0, 1:
		return x.receive(c, from)
	case 2:
		time.Sleep(d + time.Duration(rand.IntN(int(time.Millisecond))))
	}
	return false
}

// receive receives from c. It always returns true: if no value comes, it reports a fault.
func (x *mixedSite) receive(c <-chan time.Time, from time.Duration) bool {
	select {
	case sent := <-c:
		x.notEarly("a channel had a value", sent.Sub(soakEpoch), from)
	case <-time.After(x.faults.patience()):
		x.faults.add("%s: a channel never had a value", x.name)
	}
	return true
}

func (x *mixedSite) after() {
	d := soon()
	from := monotonic() + d
	c, err := x.w.After(d)
	if x.excused(err) {
		x.receive(c, from)
	}
}

func (x *mixedSite) sleep() {
	ctx, cancel := context.WithTimeout(context.Background(), x.faults.patience())
	defer cancel()
	d := soon()
	from := monotonic() + d
	if x.excused(x.w.Sleep(ctx, d)) && d > 0 {
		x.notEarly("Sleep returned", monotonic(), from)
	}
}

// every starts a Repeater. schedule starts one that ends by itself.
func (x *mixedSite) every() {
	x.repeat(&repeat{x: x}, func(r *repeat) (*hierarchy.Repeater, error) {
		r.begin(millis(), 0)
		return x.w.Every(r.period, r.run)
	})
}

func (x *mixedSite) schedule() {
	x.repeat(&repeat{x: x, plan: new(atPlan)}, func(r *repeat) (*hierarchy.Repeater, error) {
		r.plan.left = 1 + rand.IntN(20)
		r.plan.all = r.plan.left
		return x.w.Schedule(r.plan, r.run)
	})
}

func millis() time.Duration {
	return time.Millisecond + time.Duration(rand.IntN(int(3*time.Millisecond)))
}

// few is the largest number of repeaters that a site has at a time.
const few = 10

func (x *mixedSite) repeat(r *repeat, start func(*repeat) (*hierarchy.Repeater, error)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.repeaters) >= few {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h, err := start(r)
	if x.excused(err) {
		r.handle = h
		x.repeaters = append(x.repeaters, r)
	}
}

// change stops or resets any of the repeaters.
func (x *mixedSite) change() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.repeaters) == 0 {
		return
	}
	r := x.repeaters[rand.IntN(len(x.repeaters))]
	switch {
	case r.plan != nil:
	case rand.IntN(4) == 0:
		r.stop()
	default:
		r.mu.Lock()
		r.reset(1) // a run may have begun that is not counted yet
		r.mu.Unlock()
	}
}

// runOut waits until all repeaters have run, and stops them.
func (x *mixedSite) runOut() {
	x.mu.Lock()
	for _, r := range x.repeaters {
		if !r.finish() {
			x.faults.add("%s: a repeater stopped running by itself", x.name)
		}
	}
	x.mu.Unlock()
	x.timerSite.runOut()
}

func (x *mixedSite) judge(sum *tally) {
	phase := x.close()
	for _, r := range x.repeaters {
		r.judge(x.closed.Load())
		phase.runs += r.count()
	}
	x.runs += phase.runs
	phase.received = int(x.received.Swap(0))
	sum.add(phase, 1)
	st, least := x.wheel.Stats(), x.sum.fired+x.runs
	if st.Fired < uint64(least) || st.Stopped < uint64(x.sum.stopped) || st.Pending+st.Queued+st.Running > 0 ||
		st.Panics != uint64(x.panics.Load()) || st.Dropped < uint64(x.sum.dropped) || st.Moved < uint64(x.sum.moved) {
		x.faults.add("%s: Stats are %+v, the account has %v and %d runs", x.name, st, &x.sum, x.runs)
	}
	x.repeaters = nil
}
