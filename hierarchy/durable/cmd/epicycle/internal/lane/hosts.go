package lane

import (
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Hosts calls a function for timers. It limits the number of calls at once, for each host and in total. A timer that
// waits for one host does not hold up other hosts, and takes no place. NewHosts makes one.
type Hosts struct {
	perHost, total int
	run            func(Due)

	mu      sync.Mutex
	hosts   map[string]*host
	ready   []*host // hosts with a timer and a free place of their own that wait for a free place of the total
	running int
	stopped bool
	idle    *sync.Cond
}

// host is a host with timers that wait or run.
type host struct {
	name    string
	waiting waiting
	running int
	ready   bool // whether the host is in Hosts.ready
}

// NewHosts returns a Hosts that calls run in goroutines.
func NewHosts(perHost, total int, run func(Due)) *Hosts {
	h := &Hosts{perHost: perHost, total: total, run: run, hosts: make(map[string]*host)}
	h.idle = sync.NewCond(&h.mu)
	return h
}

// Push adds a timer. It does not block.
func (h *Hosts) Push(name string, d Due) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.hosts[name]
	if at == nil {
		at = &host{name: name}
		h.hosts[name] = at
	}
	at.waiting.push(d)
	h.enlist(at)
	h.dispatch()
}

// Remove removes the timer of a key, if it waits and has that ID.
func (h *Hosts) Remove(name, key string, id durable.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.hosts[name]; at != nil {
		at.waiting.remove(key, id)
		h.tidy(at)
	}
}

// tidy removes a host that has no timers. mu is held.
func (h *Hosts) tidy(at *host) {
	if at.running == 0 && at.waiting.len() == 0 {
		delete(h.hosts, at.name)
	}
}

// enlist adds a host to ready, if it has a timer and a place of its own. mu is held.
func (h *Hosts) enlist(at *host) {
	if !at.ready && at.waiting.len() > 0 && at.running < h.perHost {
		at.ready = true
		h.ready = append(h.ready, at)
	}
}

// dispatch starts as many calls as the limits allow. mu is held.
func (h *Hosts) dispatch() {
	for !h.stopped && h.running < h.total && len(h.ready) > 0 {
		at := h.ready[0]
		h.ready = h.ready[1:]
		at.ready = false
		d, ok := at.waiting.pop("")
		if !ok {
			continue
		}
		at.running++
		h.running++
		h.enlist(at)
		go h.work(at, d)
	}
}

// work calls run for a timer, and then for others that wait for its place.
func (h *Hosts) work(at *host, d Due) {
	h.run(d)
	h.mu.Lock()
	defer h.mu.Unlock()
	at.running--
	h.running--
	h.enlist(at)
	h.tidy(at)
	h.dispatch()
	if h.running == 0 {
		h.idle.Broadcast()
	}
}

// Stop prevents further calls, and returns a channel that is closed when no call is running.
func (h *Hosts) Stop() <-chan struct{} {
	done := make(chan struct{})
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	go func() {
		h.mu.Lock()
		for h.running > 0 {
			h.idle.Wait()
		}
		h.mu.Unlock()
		close(done)
	}()
	return done
}

// Len returns the number of timers that run, and of timers that wait.
func (h *Hosts) Len() (running, waiting int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, at := range h.hosts {
		waiting += at.waiting.len()
	}
	return h.running, waiting
}
