package member

import "slices"

// The clauses that hold when there are no faults any more.

// isShared checks that all processes know the same, that all partitions are owned that somebody can take, and that they
// are shared as planned.
func (l *loop) isShared() {
	if l.wrong != nil {
		return
	}
	var living []ID
	for _, p := range l.processes {
		if !p.dead && !p.observes {
			living = append(living, p.m.id)
			p.judgePublished()
		}
	}
	slices.Sort(living)
	for _, p := range l.processes {
		if p.dead {
			continue
		}
		v := p.m.View()
		if !slices.Equal(v.Living(), living) {
			l.fail("members: process %d sees %v of %v", p.n, v.Living(), living)
		}
		for at, to := range v.Plan() {
			if to != 0 && to != v.Holders()[at] {
				l.fail("plan: process %d sees %v, and plans %v", p.n, v.Holders(), v.Plan())
			}
			if to != 0 && !slices.ContainsFunc(l.processes, func(p *member) bool { return !p.dead && p.m.Owns(at) }) {
				l.fail("nobody owns partition %d", at)
			}
		}
	}
}

// judgePublished checks that all see what a process has said of itself, and that it is not new any more.
func (p *member) judgePublished() {
	for _, other := range p.processes {
		if other.dead {
			continue
		}
		peer, _ := other.m.View().Peer(p.m.id)
		for at, is := range p.unable {
			if peer.Can(at) == is || peer.Off != p.off || peer.New {
				p.fail("published: process %d sees %+v of process %d", other.n, peer, p.n)
			}
		}
	}
	if t := &p.m.timing; t.at < p.m.cfg.Boot()-2*p.m.cfg.Lease {
		p.fail("measured: process %d has compared clocks at %v", p.n, t.at)
	}
}

// judgeUnowned checks that those that observe find that all partitions have no owner, or that none has.
func (l *loop) judgeUnowned(all bool) {
	for _, p := range l.processes {
		if !p.observes {
			continue
		}
		for at, to := range p.m.View().Plan() {
			if _, is := p.m.Unowned(at); is != all && (all || to != 0) {
				l.fail("unowned: process %d finds %v of partition %d", p.n, is, at)
			}
		}
	}
}
