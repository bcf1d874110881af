package member

import (
	"context"
	"errors"
	"slices"
	"time"
)

// member is a process that joins again and again, or one that only observes.
type member struct {
	*loop
	n        int
	observes bool
	rate     float64
	cfg      Config
	m        *Member // of its present membership
	fibers   []*fiber
	follows  *fiber // the one that watches

	inbox          []late // what the watch has yet to show
	watching, mute bool
	muted          mark
	broken         bool // the watch ends

	dead, cut, paused, unheard bool // unheard: calls arrive, and no answers
	level                      int  // of faults of calls, in percent

	unable    [partitions]bool
	off       bool
	leaves    time.Duration // when it began to leave, or 0
	resigning bool
	resigned  *Member // the last membership that it has ended in order, or tried to

	renewals renewals
	judged   *View // the last one
}

// process returns a process that does nothing yet. Its clock is up to 10 % fast or slow.
func (l *loop) process() *member {
	p := &member{loop: l, n: len(l.processes), rate: 0.9 + 0.2*l.r.Float64()}
	p.cfg = Config{Store: p, Partitions: partitions, Lease: testLease,
		Boot: func() time.Duration { return time.Hour + time.Duration(p.rate*float64(l.now())) }}
	p.cfg.sleep = func(ctx context.Context, d time.Duration) bool { return p.sleep(d) && ctx.Err() == nil }
	l.processes = append(l.processes, p)
	p.follows = l.fiber(p, 0, p.watch)
	p.fibers = []*fiber{p.follows}
	return p
}

// start starts a process.
func (l *loop) start() *member {
	p := l.process()
	if l.r.IntN(3) == 0 {
		p.cfg.Lease /= 2
	}
	p.fibers = append(p.fibers, l.fiber(p, 1, p.live), l.fiber(p, 2, p.bury), l.fiber(p, 3, p.share))
	return p
}

// observe starts a process that observes.
func (l *loop) observe() {
	p := l.process()
	cfg, _ := p.cfg.withDefaults()
	p.m, p.observes = newMember(cfg), true
	p.m.observes = true
}

// kill ends a process, but not one that observes. What it has sent arrives.
func (p *member) kill() {
	if p.dead || p.observes {
		return
	}
	p.dead = true
	if p.m != nil {
		p.m.Stop()
	}
	for _, b := range p.fibers {
		p.stop(b)
	}
}

// live joins, and renews the lease until it is lost. Then it begins anew.
func (p *member) live() {
	for p.sleep(testLease / 20) {
		cfg, _ := p.cfg.withDefaults()
		cfg.ID = ID(p.r.Uint64() | 1)
		for at, is := range p.unable {
			if is {
				cfg.Unable = append(cfg.Unable, at)
			}
		}
		p.m, p.renewals, p.leaves = newMember(cfg), renewals{}, 0
		for !isClosed(p.m.ready) {
			if !p.sleep(testLease / 20) {
				return
			}
		}
		err := p.m.join(p.m.ctx)
		p.judgeJoin(err)
		if err == nil {
			p.Add("%v process %d has joined as %v", p.now(), p.n, p.m.id)
			p.joined++
			p.m.SetOff(p.off)
			p.renew()
			p.judgeLoss()
			p.lost++
		}
		for p.resigning && p.sleep(testLease/20) {
		}
		p.m.Stop()
		p.Add("%v process %d is %v no more", p.now(), p.n, p.m.id)
	}
}

// renew is Member.renew.
func (p *member) renew() {
	for begun := p.m.cfg.Boot(); ; {
		hurry := false
		select {
		case <-p.m.hurry:
			hurry = true
		default:
		}
		if p.m.ctx.Err() != nil {
			return
		}
		if left := begun + p.m.cfg.Renew - p.m.cfg.Boot(); left > 0 && !hurry {
			if !p.sleep(left) {
				return
			}
			continue
		}
		begun = p.m.cfg.Boot()
		if p.m.renewal(p.m.ctx) != nil {
			return
		}
		p.wake(p.follows)
	}
}

// bury is Member.bury.
func (p *member) bury() {
	for p.sleep(testLease / 24) {
		for m := p.m; m != nil && m.ctx.Err() == nil; {
			target, pause := m.next()
			if target.key != "" {
				did := m.deleteDead(target)
				p.Add("%v process %d has found %v dead, or not", p.now(), p.n, target.key)
				if did {
					continue
				}
				pause = m.cfg.Lease / 12
			}
			if !p.pausesFor(m, pause) {
				return
			}
		}
	}
}

// pausesFor sleeps for a time, or until bury is woken or the membership ends. It reports false if the process has to end.
func (p *member) pausesFor(m *Member, pause time.Duration) bool {
	for end := p.now() + pause; p.now() < end && m.ctx.Err() == nil; {
		select {
		case <-m.wake:
			return true
		default:
		}
		if !p.sleep(min(end-p.now(), testLease/24)) {
			return false
		}
	}
	return true
}

// share claims and gives partitions, as planned.
func (p *member) share() {
	for p.sleep(testLease/20 + time.Duration(p.r.Int64N(int64(testLease/20)))) {
		m := p.m
		if m == nil || m.lease.revision == 0 || m.ctx.Err() != nil {
			continue
		}
		v := m.View()
		p.judgeView(v)
		for at, to := range v.Plan() {
			p.decide(m, at, v.Claims[at], to)
		}
		given := !slices.Contains(m.View().Holders(), m.id)
		if p.leaves > 0 && isClosed(m.left) && (given || p.now() > p.leaves+3*testLease) {
			p.resign(m)
		}
	}
}

func (p *member) decide(m *Member, at int, c Claim, to ID) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.r.Int64N(int64(testLease))))
	defer cancel()
	rash := !p.quiet && p.r.IntN(30) == 0 // it asks for what isn't free, or is its own
	switch {
	case rash || to == m.id && (c.Free || c.Holder == m.id && !m.mine[at].Load()):
		if err := m.Claim(ctx, at); err == nil {
			p.Add("%v process %d has partition %d", p.now(), p.n, at)
			p.judgeTaken(m, at)
			p.took++
		}
	case c.Holder == m.id && to != m.id && to != 0:
		if err := m.Give(ctx, at, to); err == nil {
			p.Add("%v process %d has given partition %d to %v", p.now(), p.n, at, to)
			p.gave++
		}
	}
}

// resign ends a membership in order.
func (p *member) resign(m *Member) {
	ctx, cancel := context.WithTimeout(context.Background(), testLease)
	defer cancel()
	p.resigning, p.resigned = true, m
	err := m.Resign(ctx)
	p.judgeResign(m, err)
	p.resigning = false
	p.wake(p.fibers...)
}

var errCall = errors.New("failed")
