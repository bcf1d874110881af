package lane

import (
	"container/list"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Hosts calls a function for timers, which sends a request to the timer's host. It limits the number of calls at once,
// for each host and in total, so that hosts that hang hold up no others. host.go tells how. NewHosts makes one.
type Hosts struct {
	perHost, total int
	run            func(Due) Outcome
	gate           *Gate
	now            func() time.Time

	mu      sync.Mutex
	hosts   map[string]*host // those with timers, and those in resting
	lines   [lines]list.List // of *host, by the kind of place that they wait for
	resting [states]list.List
	young   list.List   // of *call, those that have run for less than patience, the oldest first
	alarm   *time.Timer // calls age
	prompt  int         // Invariant: the calls that are not slow
	slow    int         // Invariant: the calls that are slow
	pace    pace
	again   *time.Timer // calls resume
	stopped bool
	idle    *sync.Cond
}

// Outcome is what a call has shown about its host.
type Outcome int

// The outcomes of a call.
const (
	Unknown  Outcome = iota // nothing: the host was not asked, or the call was given up
	Answered                // the host has answered, whatever it said
	Silent                  // the host could not be reached, or has not answered in time
)

// call is a call in progress.
type call struct {
	at    *host
	pass  Pass
	began time.Time
	// slow reports whether the call counts as one to a host that hangs: from its beginning, if the host did not answer
	// lately, or else after patience.
	slow  bool
	young *list.Element // the place of the call in Hosts.young, or nil
}

// NewHosts returns a Hosts that calls run in goroutines, as gate allows.
func NewHosts(perHost, total int, gate *Gate, run func(Due) Outcome) *Hosts {
	h := &Hosts{perHost: perHost, total: total, run: run, gate: gate, now: time.Now, hosts: make(map[string]*host)}
	h.idle = sync.NewCond(&h.mu)
	h.alarm = time.AfterFunc(patience, h.age)
	h.alarm.Stop()
	h.again = time.AfterFunc(paceEvery, h.resume)
	h.again.Stop()
	return h
}

// Push adds a timer. It does not block.
func (h *Hosts) Push(name string, d Due) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.wake(name)
	at.waiting.push(d)
	h.unlimit(at)
	h.dispatch()
}

// Remove removes the timer of a key, if it waits and has that ID.
func (h *Hosts) Remove(name, key string, id durable.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.hosts[name]; at != nil {
		at.waiting.remove(key, id)
		h.enlist(at)
		h.rest(at)
	}
}

// dispatch starts as many calls as there is room for. It reads the clock once: the pace would else hold a call up at one
// reading, and no more at the next one, which decides whether the alarm is set. mu is held.
func (h *Hosts) dispatch() {
	now := h.now()
	for l := own; l < lines; {
		front := h.lines[l].Front()
		if h.stopped || front == nil || !h.hasRoom(l, now) {
			l++
			continue
		}
		h.start(front.Value.(*host), now)
	}
	if wait := h.pace.ahead(now); wait > 0 && h.lines[first].Len()+h.lines[probe].Len()+h.lines[more].Len() > 0 {
		h.again.Reset(wait)
	}
}

// resume is called when pace allows another call.
func (h *Hosts) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dispatch()
}

// start starts a call for the first timer of a host, unless limits have all its timers wait. mu is held.
func (h *Hosts) start(at *host, now time.Time) {
	h.leave(at) // so that it is behind the others if it gets in line again
	d, pass, ok := at.waiting.pop("")
	if !ok {
		at.limited = true
		return
	}
	c := &call{at: at, pass: pass, began: now, slow: at.state != answers}
	if c.slow {
		h.slow++
		h.pace.begun(c.began)
	} else {
		h.prompt++
	}
	at.running++
	at.young++
	c.young = h.young.PushBack(c)
	if h.young.Len() == 1 {
		h.alarm.Reset(patience)
	}
	h.enlist(at)
	go h.work(c, d)
}

// work calls run for a timer, and starts the calls for which there is room then.
func (h *Hosts) work(c *call, d Due) {
	outcome := h.run(d)
	c.pass.End()
	h.mu.Lock()
	defer h.mu.Unlock()
	c.at.running--
	h.grown(c)
	if c.slow {
		h.slow--
	} else {
		h.prompt--
	}
	c.at.learn(c, outcome)
	h.enlist(c.at)
	h.rest(c.at)
	h.dispatch()
	if h.running() == 0 {
		h.idle.Broadcast()
	}
}

// grown removes a call from the young ones. mu is held.
func (h *Hosts) grown(c *call) {
	if c.young != nil {
		h.young.Remove(c.young)
		c.young = nil
		c.at.young--
	}
}

// age is called when the oldest of the young calls may have run for as long as patience.
func (h *Hosts) age() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for front := h.young.Front(); front != nil; front = h.young.Front() {
		c := front.Value.(*call)
		if left := patience - time.Since(c.began); left > 0 {
			h.alarm.Reset(left)
			break
		}
		h.grown(c)
		if !c.slow {
			c.slow = true
			h.prompt--
			h.slow++
		}
		c.at.learn(c, Silent)
		h.enlist(c.at)
	}
	h.dispatch()
}

// running returns the number of calls in progress. mu is held.
func (h *Hosts) running() int { return h.prompt + h.slow }

// Stop prevents further calls, and returns a channel that is closed when no call is running.
func (h *Hosts) Stop() <-chan struct{} {
	done := make(chan struct{})
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	go func() {
		h.mu.Lock()
		for h.running() > 0 {
			h.idle.Wait()
		}
		h.mu.Unlock()
		close(done)
	}()
	return done
}
