package member

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// The clauses of the lease and of claims. DESIGN.md names them.

// fail records a clause that did not hold.
func (l *loop) fail(format string, args ...any) {
	if l.wrong == nil {
		l.wrong = fmt.Errorf("%v "+format, append([]any{l.now()}, args...)...)
		l.Add("WRONG: %v", l.wrong)
	}
}

// judge checks what must hold at each instant, after a turn of a process, or of a message.
func (l *loop) judge(turn *member) {
	if turn == nil {
		return
	}
	for at := range partitions {
		var owners []int
		for _, p := range l.processes {
			if !p.dead && p.m != nil && p.m.Owns(at) {
				owners = append(owners, p.n)
			}
		}
		if len(owners) > 1 {
			l.fail("owners: processes %v own partition %d", owners, at)
		}
	}
	if !turn.dead && turn.m != nil {
		turn.judge()
	}
}

// judge checks the lease of one process.
func (p *member) judge() {
	p.acknowledged()
	n := &p.renewals
	if until := time.Duration(p.m.lease.until.Load()); until > n.until {
		p.fail("lease: process %d holds it %v too long", p.n, until-n.until)
	}
	if n.refused && p.m.Holds() {
		p.fail("refused: process %d holds its lease, though its renewal was refused", p.n)
	}
	p.judgeLapse()
	if p.held && !p.m.Holds() && !p.observes && !n.refused {
		p.fail("held: process %d has no lease, though the table was away only for a moment", p.n)
	}
	p.judgeSilence()
	p.judgeBounds()
	p.judgeLiving()
	for at := range p.m.mine {
		c := &p.m.known.claims[at]
		if p.m.mine[at].Load() && (c.giving || c.holder != p.m.id) {
			p.fail("giving: process %d owns partition %d, whose claim it gives away", p.n, at)
		}
	}
}

// judgeLapse checks that a process either has a lease or knows since when it has none: from the end of the last one or, if a
// renewal was refused, from the last answer.
func (p *member) judgeLapse() {
	lapsed := p.m.Lapsed()
	if lapsed.IsZero() != p.m.Holds() {
		p.fail("lapsed: process %d has had no lease since %v", p.n, lapsed)
	}
	most := p.m.cfg.Boot() - min(p.renewals.until, p.renewals.acked)
	if ago := time.Since(lapsed); !lapsed.IsZero() && (ago < 0 || ago > most) {
		p.fail("lapsed: process %d has had no lease for %v, of at most %v", p.n, ago, most)
	}
}

// judgeLiving checks that a process does not find that a partition has no owner before others may delete the record of
// its holder, as far as the process has seen it.
func (p *member) judgeLiving() {
	for at := range partitions {
		holder := p.m.known.claims[at].holder
		peer, r := p.m.known.peers[holder], p.table.records[memberKey(holder)]
		if peer == nil || peer.revision != r.Revision {
			continue
		}
		silent := time.Duration(p.rate * float64(p.now()-p.table.written[r.Key]))
		if _, is := p.m.Unowned(at); is && silent < 5*peer.lease/4 {
			p.fail("unowned: process %d finds that of partition %d, whose holder was silent for %v", p.n, at, silent)
		}
	}
}

// judgeLoss checks that a process gives its lease up only if another one has deleted its record, or it has resigned.
func (p *member) judgeLoss() {
	if !p.dead && p.resigned != p.m && !p.table.deleted[memberKey(p.m.id)] {
		p.fail("lost: process %d has given its lease up, and nobody has deleted its record", p.n)
	}
}

// judgeChange checks a change of the table before it is made.
func (l *loop) judgeChange(by *member, was, now storage.Record) {
	_, at, _ := parseKey(now.Key)
	if at >= 0 {
		l.judgeClaim(by, at, was, now)
		return
	}
	if now.Deleted && was.Revision > 0 && !by.renewals.resigns {
		l.judgeDeath(by, was)
	}
}

// judgeClaim checks that a claim is written by who holds it, or is free: nobody holds it, or its holder has no record, or
// one that was deleted before. Such a member never joins, though a copy of its first record may come late.
func (l *loop) judgeClaim(by *member, at int, was, now storage.Record) {
	holder, _ := decodeClaim(was)
	if next, _ := decodeClaim(now); holder == by.m.id && next == holder && !by.m.known.claims[at].giving {
		l.fail("seldom: process %d takes partition %d, which it has", by.n, at)
	}
	if was.Revision == 0 || holder == 0 || holder == by.m.id {
		return
	}
	if r := l.table.records[memberKey(holder)]; r.Revision > 0 && !l.table.deleted[r.Key] {
		l.fail("claim: process %d takes partition %d from %v, which lives", by.n, at, holder)
	}
}

// judgeTaken checks that a claim is a process's own that it is told that it has taken.
func (p *member) judgeTaken(m *Member, at int) {
	if m.ctx.Err() == nil && !m.mine[at].Load() {
		p.fail("taken: process %d is told that it has partition %d, whose claim %v holds", p.n, at, m.known.claims[at].holder)
	}
}

// judgeDeath checks that a record is deleted only if it was not renewed for one and a quarter leases, in which the
// process that deletes it could renew its own when it decided that.
func (l *loop) judgeDeath(by *member, was storage.Record) {
	record, _ := decodeMember(was.Key, was.Value)
	if record.Lease == 0 { // that of a stranger
		record.Lease = by.cfg.Lease
	}
	clock := func(at time.Duration) time.Duration { return time.Duration(by.rate * float64(at)) }
	l.buried++
	// A deletion may be on its way for a sixth of a lease, and is decided before.
	since, least := clock(l.now())-clock(l.table.written[was.Key]), 5*record.Lease/4
	if since < least {
		l.fail("death: process %d deletes %v %v after a renewal", by.n, was.Key, since)
	}
	if own := by.renewals.decided; own < least {
		l.fail("death: process %d deletes %v, and could renew its own lease for only %v", by.n, was.Key, own)
	}
}
