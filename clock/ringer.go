package clock

import "sync"

// ringer calls a ring function so that calls never overlap: a ring that comes
// while one runs is made good when it has returned.
type ringer struct {
	mu      sync.Mutex
	ringing bool // guarded by mu
	again   bool // guarded by mu; a ring came while ringing
	ring    func()
}

func (r *ringer) fire() {
	if !r.begin() {
		return
	}
	returned := false
	defer func() {
		if !returned && r.more() { // ring panicked or exited its goroutine
			r.end()
			go r.fire()
		}
	}()
	for {
		r.ring()
		if !r.more() {
			returned = true
			return
		}
	}
}

func (r *ringer) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = r.ringing
	if r.ringing {
		return false
	}
	r.ringing = true
	return true
}

// more tells whether to ring again, and if not ends the ringing.
func (r *ringer) more() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := r.again
	r.again = false
	r.ringing = again
	return again
}

func (r *ringer) end() {
	r.mu.Lock()
	r.ringing = false
	r.mu.Unlock()
}
