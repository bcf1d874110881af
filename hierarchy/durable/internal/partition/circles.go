package partition

import "github.com/epicycle-go/epicycle/hierarchy"

// Circles tells where the timers are that wait, by the time since the Unix epoch.
func (p *Partition) Circles() []hierarchy.CircleStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Circles(p.time.now(), p.time.wall())
}
