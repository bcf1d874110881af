package partition

import "time"

// Gate limits how many frames are on their way to one disk at once, over all partitions of a
// process. A disk syncs one file after the other, more or less. Meanwhile the other partitions
// gather more operations for their frames. NewGate makes one. A nil Gate limits nothing.
type Gate struct{ places chan struct{} }

// NewGate is a Gate for n frames at once.
func NewGate(n int) *Gate { return &Gate{make(chan struct{}, n)} }

// gateTime is how long to wait for a place. A log that does not answer must not hold up the others.
const gateTime = 20 * time.Millisecond

// enter waits for a place, and tells whether it got one.
func (g *Gate) enter() bool {
	if g == nil {
		return false
	}
	select {
	case g.places <- struct{}{}:
		return true
	default:
	}
	patience := time.NewTimer(gateTime)
	defer patience.Stop()
	select {
	case g.places <- struct{}{}:
		return true
	case <-patience.C:
		return false
	}
}

// leave gives the place back.
func (g *Gate) leave() { <-g.places }

// leaveGate gives the writer's place back, if it has one.
func (p *Partition) leaveGate() {
	if p.entered {
		p.cfg.Gate.leave()
		p.entered = false
	}
}
