package member

import (
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// The clauses of records, of what is known, and of clocks.

// renewals is what the judge knows of the renewals of one membership, by the clock of its process.
type renewals struct {
	value   string        // of the last renewal that was sent
	first   time.Duration // when its first copy was sent
	joined  time.Duration // when the first copy of the first one was sent
	isNew   bool          // the first one said that the member is new
	until   time.Duration // how long the lease may be held at most
	acked   time.Duration // Member.lease.acked
	run     time.Duration // since when renewals have been acknowledged without an interruption
	refused bool          // the last answer was a refusal, and nothing has been acknowledged since
	decided time.Duration // how long renewals had succeeded when the deletion that arrives was sent
	resigns bool          // that deletion is of its own record
	bounds  timing        // as it was
}

// sent records a copy of a renewal.
func (p *member) sent(key string, value []byte, at time.Duration) {
	n := &p.renewals
	if key != memberKey(p.m.id) || string(value) == n.value {
		return
	}
	p.acknowledged()
	r, _ := decodeMember(key, value)
	if n.value == "" {
		n.joined, n.isNew = at, p.joinsOthers()
	}
	n.value, n.first = string(value), at
	if is := n.isNew && at < n.joined+p.cfg.Lease; r.New != is {
		p.fail("new: process %d says %v, not %v, %v after it began to join", p.n, r.New, is, at-n.joined)
	}
}

// acknowledged records that the last renewal was acknowledged, if it was. The next one may be sent at once.
func (p *member) acknowledged() {
	n, acked := &p.renewals, p.m.lease.acked
	if acked == n.acked {
		return
	}
	if n.acked == 0 || acked-n.acked > 2*p.cfg.Lease/3 {
		n.run = acked
	}
	n.acked, n.until, n.refused = acked, n.first+3*p.cfg.Lease/4, false
}

// renewed returns for how long renewals have succeeded without an interruption until now.
func (p *member) renewed() time.Duration {
	p.acknowledged()
	now := p.m.cfg.Boot()
	if now-p.renewals.acked > 2*p.cfg.Lease/3 {
		return 0
	}
	return now - p.renewals.run
}

// joinsOthers reports whether a process knows one that has renewed its lease three times, and stays.
func (p *member) joinsOthers() bool {
	for _, other := range p.m.known.peers {
		if other.counter > 3 && !other.Leaving {
			return true
		}
	}
	return false
}

// answered records the answer to a copy of a renewal.
func (n *renewals) answered(p *member, key string, err error) {
	if key == memberKey(p.m.id) && errors.Is(err, storage.ErrRefused) {
		n.refused = true
	}
}

// judgeJoin checks that nothing keeps a process from joining, that it does not join under the ID of a dead one, and that it
// holds its lease then.
func (p *member) judgeJoin(err error) {
	if err == nil && p.m.ctx.Err() == nil && !p.m.Holds() {
		p.fail("joined: process %d has joined, and has no lease", p.n)
	}
	if err == nil && p.m.ctx.Err() == nil && p.table.deleted[memberKey(p.m.id)] {
		p.fail("joined: process %d has joined as %v, which is dead", p.n, p.m.id)
	}
	if err != nil && !errors.Is(err, ErrLost) && p.m.ctx.Err() == nil && !p.dead {
		p.fail("joined: process %d can't join: %v", p.n, err)
	}
}

// judgeResign checks that nothing is left of a process that has resigned.
func (p *member) judgeResign(m *Member, err error) {
	r := p.table.records[memberKey(m.id)]
	if m.Holds() || err == nil && r.Revision > 0 && !r.Deleted {
		p.fail("resigned: process %d has resigned, and is a member", p.n)
	}
}

// judgeView checks the plan for what a process knows, and what it finds out about clocks.
func (p *member) judgeView(v *View) {
	if v != p.judged {
		if err := judgePlan(v); err != nil {
			p.fail("process %d: %v", p.n, err)
		}
		p.judged = v
	}
	if p.leaves > 0 && isClosed(p.m.left) && !p.table.deleted[memberKey(v.ID)] {
		if r, _ := decodeMember("", p.table.records[memberKey(v.ID)].Value); !r.Leaving {
			p.fail("leaving: nobody can see that process %d leaves", p.n)
		}
	}
	t := &p.m.timing
	if !isClosed(t.known) {
		return
	}
	// Its own clock may have been wrong by a tenth since then.
	drift := (p.m.cfg.Boot() - t.at + t.most - t.least) / 8
	least, most := p.m.Skew(time.Now)
	if is := -p.table.ahead; is < least-drift || is > most+drift {
		p.fail("skew: process %d finds its clock %v to %v ahead, and %v is true", p.n, least, most, is)
	}
}

// judgeBounds checks that new bounds of clocks are no wider than the ones before, which age by a second in ten.
func (p *member) judgeBounds() {
	t, was := &p.m.timing, &p.renewals.bounds
	if t.at != was.at && was.at > 0 && t.most-t.least > was.most-was.least+(t.at-was.at)/10 {
		p.fail("wide: the bounds of process %d were %v apart, and are %v", p.n, was.most-was.least, t.most-t.least)
	}
	*was = *t
}

// judgeMemory checks, after a record was shown, that a member that was just found dead has pushed out those that have
// died more than an hour ago, unless claims are theirs.
func (p *member) judgeMemory(key string) {
	id, _, _ := parseKey(key)
	k, now := &p.m.known, p.m.cfg.Boot()
	if at, ok := k.dead[id]; !ok || at != now {
		return
	}
	for id, since := range k.dead {
		if now-since > time.Hour && !slices.ContainsFunc(k.claims, func(c claim) bool { return c.holder == id }) {
			p.fail("memory: process %d remembers %v", p.n, id)
		}
	}
}

// mark is since when a watch that is mute shows nothing, the last record that was written or acknowledged before, and
// when a later renewal of its own was acknowledged, which the watch awaits.
type mark struct {
	at, acked time.Duration
	last      uint64
}

// judgeSilence checks that a watch is begun anew that does not show the own renewals within a third of a lease, or
// nothing at all to one that only observes.
func (p *member) judgeSilence() {
	if p.muted.acked == 0 && p.m.lease.revision > p.muted.last {
		p.muted.acked = p.now()
	}
	since, most := max(p.muted.at, p.muted.acked), p.cfg.Lease/2
	if p.observes {
		most = 5 * p.cfg.Lease / 4
	} else if p.muted.acked == 0 {
		return
	}
	if p.mute && !p.paused && p.now()-since > most {
		p.fail("silent: process %d has seen nothing since %v", p.n, p.muted.at)
	}
}
