package member

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
)

// known is what a member knows of the table.
type known struct {
	revisions map[string]uint64    // of each key. What comes with an older one is old
	peers     map[ID]*peer         // that have a record
	dead      map[ID]time.Duration // whose record was deleted, and when that was learnt. It never comes back
	claims    []claim              // by partition
	all       bool                 // all that the table had was read
	foreign   error                // the first claim of a later version
	cached    *View
}

// peer is a member that has a record.
type peer struct {
	Peer
	revision uint64
	lease    time.Duration
	seen     time.Duration // when this revision was seen first
	counter  uint64        // of its renewals
}

// claim is the record of a claim.
type claim struct {
	holder   ID
	revision uint64
	foreign  bool // it is of a later version
	giving   bool // a Give of this revision is under way or in doubt
}

func newKnown(partitions int) known {
	return known{revisions: make(map[string]uint64), peers: make(map[ID]*peer), dead: make(map[ID]time.Duration),
		claims: make([]claim, partitions)}
}

// remove takes out a member whose record was deleted. The dead of an hour ago are forgotten, unless they hold a
// claim: the table has forgotten them, too.
func (k *known) remove(id ID, now time.Duration) {
	delete(k.peers, id)
	k.dead[id] = now
	k.cached = nil
	for id, since := range k.dead {
		if now-since > forgotten && !slices.ContainsFunc(k.claims, func(c claim) bool { return c.holder == id }) {
			delete(k.dead, id)
			delete(k.revisions, memberKey(id))
		}
	}
}

func (k *known) isDead(id ID) bool {
	_, ok := k.dead[id]
	return ok
}

// settled reports whether a member has lived for some time: one that has renewed its lease three times, and stays. Those that
// join before that begin together, and share at once.
func (k *known) settled() bool {
	for _, p := range k.peers {
		if p.counter > settledAfter && !p.Leaving {
			return true
		}
	}
	return false
}

// free tells whether a claim can be taken.
func (k *known) free(c claim) bool { return !c.foreign && (c.holder == 0 || k.isDead(c.holder)) }

// missing returns the holders of which no record was seen, not even a deleted one.
func (k *known) missing() (ids []ID) {
	for _, c := range k.claims {
		if c.holder != 0 && !k.isDead(c.holder) && k.peers[c.holder] == nil {
			ids = append(ids, c.holder)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// view is the View of all this.
func (k *known) view(own ID) *View {
	if k.cached != nil {
		return k.cached
	}
	v := &View{ID: own, Claims: make([]Claim, len(k.claims))}
	for _, p := range k.peers {
		v.Members = append(v.Members, p.Peer)
	}
	slices.SortFunc(v.Members, func(a, b Peer) int { return cmp.Compare(a.ID, b.ID) })
	for i, c := range k.claims {
		v.Claims[i] = Claim{Holder: c.holder, Free: k.free(c)}
	}
	k.cached = v
	return v
}

// apply takes in what the table has, or had: from the watch, and from answers.
func (m *Member) apply(r table.Record) {
	id, p, ok := parseKey(r.Key)
	if !ok || p >= m.cfg.Partitions {
		return
	}
	now := m.cfg.Boot()
	m.mu.Lock()
	if r.Revision > m.known.revisions[r.Key] {
		m.known.revisions[r.Key] = r.Revision
		var err error
		if p >= 0 {
			err = m.applyClaim(p, r)
		} else {
			err = m.applyMember(id, r, now)
		}
		if errors.Is(err, errVersion) && m.known.foreign == nil {
			m.known.foreign = err
		}
		if err != nil {
			m.cfg.Logger.Warn("durable: a record in the table of members is not understood", "err", err)
		}
	}
	m.mu.Unlock()
	m.risen()
}

// applyMember takes in the record of a member. The lock must be held.
func (m *Member) applyMember(id ID, r table.Record, now time.Duration) error {
	switch {
	case m.known.isDead(id):
		return nil
	case r.Deleted:
		if id == m.id {
			m.lose()
		}
		m.known.remove(id, now)
		m.tell()
		return nil
	}
	record, err := decodeMember(r.Key, r.Value)
	if record.Lease == 0 {
		record.Lease = m.cfg.Lease
	}
	slices.Sort(record.Unable)
	is := &peer{Peer{id, record.Text, record.Leaving, record.New, record.Off, record.Unable, record.Log, record.Wire, record.Plan},
		r.Revision, record.Lease, now, record.Counter}
	was := m.known.peers[id]
	if was == nil || !was.is(&is.Peer) {
		m.tell()
	}
	if was != nil { // it was said
		err = nil
	}
	m.known.peers[id] = is
	return err
}

// applyClaim takes in the record of a claim. The lock must be held.
func (m *Member) applyClaim(p int, r table.Record) (err error) {
	c := claim{revision: r.Revision}
	if !r.Deleted {
		c.holder, err = decodeClaim(r.Key, r.Value)
		c.foreign = errors.Is(err, errVersion)
	}
	m.known.claims[p] = c
	m.mine[p].Store(c.holder == m.id)
	m.tell()
	return err
}

// tell says that View has changed. The lock must be held.
func (m *Member) tell() {
	m.known.cached = nil
	signal(m.changed)
	signal(m.wake)
}
