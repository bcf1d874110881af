package member

import (
	"errors"
	"fmt"
	"slices"
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

// renewals is what the judge knows of the renewals of one membership, by the clock of its process.
type renewals struct {
	value   string        // of the last renewal that was sent
	first   time.Duration // when its first copy was sent
	until   time.Duration // how long the lease may be held at most
	acked   time.Duration // Member.lease.acked
	run     time.Duration // since when renewals have been acknowledged without an interruption
	refused bool          // the last answer was a refusal, and nothing has been acknowledged since
	decided time.Duration // how long renewals had succeeded when the deletion that arrives was sent
}

// sent records a copy of a renewal.
func (n *renewals) sent(p *member, key string, value []byte, at time.Duration) {
	if key == memberKey(p.m.id) && string(value) != n.value {
		n.value, n.first = string(value), at
	}
}

// answered records the answer to a copy of a renewal.
func (n *renewals) answered(p *member, key string, err error) {
	if key == memberKey(p.m.id) && errors.Is(err, storage.ErrRefused) {
		n.refused = true
	}
}

// judge checks what must hold at each instant.
func (l *loop) judge() {
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
	for _, p := range l.processes {
		if !p.dead && p.m != nil {
			p.judge()
		}
	}
}

// judge checks the lease of one process.
func (p *member) judge() {
	n, acked := &p.renewals, p.m.lease.acked
	if acked != n.acked {
		if n.acked == 0 || acked-n.acked > 2*p.cfg.Lease/3 {
			n.run = acked
		}
		n.acked, n.until, n.refused = acked, n.first+3*p.cfg.Lease/4, false
	}
	if until := time.Duration(p.m.lease.until.Load()); until > n.until {
		p.fail("lease: process %d holds it %v too long", p.n, until-n.until)
	}
	if n.refused && p.m.Holds() {
		p.fail("refused: process %d holds its lease, though its renewal was refused", p.n)
	}
	for at := range p.m.mine {
		c := &p.m.known.claims[at]
		if p.m.mine[at].Load() && (c.giving || c.holder != p.m.id) {
			p.fail("giving: process %d owns partition %d, whose claim it gives away", p.n, at)
		}
	}
}

// judgeLoss checks that a process gives its lease up only if another one has deleted its record.
func (p *member) judgeLoss() {
	if !p.dead && !p.table.deleted[memberKey(p.m.id)] {
		p.fail("lost: process %d has given its lease up, and nobody has deleted its record", p.n)
	}
}

// judgeChange checks a change of the table before it is made.
func (l *loop) judgeChange(by *member, was, now storage.Record) {
	id, at, _ := parseKey(now.Key)
	if at >= 0 {
		l.judgeClaim(by, at, was)
		return
	}
	if now.Deleted && was.Revision > 0 && id != by.m.id {
		l.judgeDeath(by, was)
	}
}

// judgeClaim checks that a claim is written by who holds it, or is free: nobody holds it, or its holder has no record.
func (l *loop) judgeClaim(by *member, at int, was storage.Record) {
	holder, _ := decodeClaim(was)
	if was.Revision == 0 || holder == 0 || holder == by.m.id {
		return
	}
	if r := l.table.records[memberKey(holder)]; r.Revision > 0 && !r.Deleted {
		l.fail("claim: process %d takes partition %d from %v, which lives", by.n, at, holder)
	}
}

// judgeDeath checks that a record is deleted only if it was not renewed for one and a quarter leases, in which the
// process that deletes it could renew its own when it decided that.
func (l *loop) judgeDeath(by *member, was storage.Record) {
	record, _ := decodeMember(was.Key, was.Value)
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

// isShared checks that all partitions are owned, and shared as planned.
func (l *loop) isShared() {
	if l.wrong != nil {
		return
	}
	for at := range partitions {
		if !slices.ContainsFunc(l.processes, func(p *member) bool { return !p.dead && p.m.Owns(at) }) {
			l.fail("nobody owns partition %d", at)
		}
	}
	for _, p := range l.processes {
		if v := p.m.View(); !p.dead && !slices.Equal(v.Holders(), v.Plan()) {
			l.fail("plan: process %d sees %v, and plans %v", p.n, v.Holders(), v.Plan())
		}
	}
}
