package hierarchy

import "sync/atomic"

// places counts the timers of a wheel that has a limit. Without one it counts
// nothing, as a counter that all cores write to is dear.
type places struct {
	limit int64 // immutable; 0: none
	taken atomic.Int64
}

// take takes a place, if one is free.
func (p *places) take() bool {
	if p.limit == 0 {
		return true
	}
	for {
		n := p.taken.Load()
		if n >= p.limit {
			return false
		}
		if p.taken.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// insist takes a place, free or not.
func (p *places) insist() {
	if p.limit != 0 {
		p.taken.Add(1)
	}
}

// release gives places back.
func (p *places) release(n int) {
	if p.limit != 0 {
		p.taken.Add(int64(-n))
	}
}
