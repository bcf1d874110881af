package member

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// View holds what a member knows about all members and claims. It is immutable. It may be stale, but each change of a
// claim is decided by the table.
type View struct {
	ID      ID
	Members []Peer  // all members that have a lease, sorted by ID, including this one until its lease is lost
	Claims  []Claim // by partition
}

// Peer is a member that has a lease.
type Peer struct {
	ID      ID
	Text    string
	Leaving bool
	New     bool  // the member does not take partitions yet that others can take
	Off     bool  // the wall clock of the member is off: it takes nothing over
	Unable  []int // the partitions that the member can't take, sorted
}

// Name returns the name of the member for people, in logs and on pages.
func (p *Peer) Name() string { return Name(p.Text, p.ID) }

// Name returns the Name of a Peer with that text and ID.
func Name(text string, id ID) string {
	name := "member " + id.String()
	if text != "" {
		name = text + ", " + name
	}
	return name
}

// Claim determines who may own a partition.
type Claim struct {
	Holder ID // 0: nobody
	// Free reports whether the method Claim can take the claim: nobody holds it, or the holder's lease was deleted. A
	// claim is not free if the holder has a lease, or if nothing is known about the holder yet.
	Free bool
}

// Peer returns the member with that ID, if it has a lease.
func (v *View) Peer(id ID) (Peer, bool) {
	at, ok := slices.BinarySearchFunc(v.Members, id, func(p Peer, id ID) int { return cmp.Compare(p.ID, id) })
	if !ok {
		return Peer{}, false
	}
	return v.Members[at], true
}

// known is what a member knows about the table.
type known struct {
	revisions map[string]uint64    // by key: the latest revision that was seen; older records are stale
	peers     map[ID]*peer         // the members that have a record
	dead      map[ID]time.Duration // the members whose record was deleted, and when this member learnt that
	claims    []claim              // by partition
	readAt    time.Duration        // when the table was first read
	foreign   error                // the first claim of a later version
	cached    *View
}

// peer is a member that has a record.
type peer struct {
	Peer
	revision uint64
	lease    time.Duration
	seen     time.Duration // when this revision was first seen
	counter  uint64        // the number of the member's last renewal
}

// claim is the record of a claim, as far as it is known.
type claim struct {
	holder   ID
	revision uint64
	seen     time.Duration // when this revision was first seen
	foreign  bool          // the claim was written by a later version
	giving   bool          // a Give of this revision is in progress, or its result is unknown
}

func newKnown(partitions int) known {
	return known{revisions: make(map[string]uint64), peers: make(map[ID]*peer), dead: make(map[ID]time.Duration),
		claims: make([]claim, partitions)}
}

// remove removes a member whose record was deleted. It also forgets members that died at least an hour ago and hold no
// claim, because the table has forgotten their deletion, too.
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

// settled reports whether there is a member that has renewed its lease three times and is not leaving. Members that
// join before there is such a member start together, and share the partitions at once.
func (k *known) settled() bool {
	for _, p := range k.peers {
		if p.counter > settledAfter && !p.Leaving {
			return true
		}
	}
	return false
}

// free reports whether a claim can be taken.
func (k *known) free(c claim) bool { return !c.foreign && (c.holder == 0 || k.isDead(c.holder)) }

// missing returns the holders of claims of which no record was ever seen, not even a deleted record.
func (k *known) missing() (ids []ID) {
	for _, c := range k.claims {
		if c.holder != 0 && !k.isDead(c.holder) && k.peers[c.holder] == nil {
			ids = append(ids, c.holder)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// view returns what is known as a View.
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

// apply applies a record of the table, from the watch or from a response. The record may be stale. isNew reports
// whether the record is new.
func (m *Member) apply(r storage.Record) (isNew bool) {
	id, p, ok := parseKey(r.Key)
	if !ok || p >= m.cfg.Partitions {
		return false
	}
	now := m.cfg.Boot()
	m.mu.Lock()
	if isNew = r.Revision > m.known.revisions[r.Key]; isNew {
		m.known.revisions[r.Key] = r.Revision
		var err error
		if p >= 0 {
			err = m.applyClaim(p, r, now)
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
	return isNew
}

// applyMember applies the record of a member. The lock must be held.
func (m *Member) applyMember(id ID, r storage.Record, now time.Duration) error {
	switch {
	case m.known.isDead(id):
		return nil
	case r.Deleted:
		if id == m.id {
			m.lose()
		}
		m.known.remove(id, now)
		m.announce()
		return nil
	}
	record, err := decodeMember(r.Key, r.Value)
	if record.Lease == 0 {
		record.Lease = m.cfg.Lease
	}
	slices.Sort(record.Unable)
	next := &peer{Peer{id, record.Text, record.Leaving, record.New, record.Off, record.Unable},
		r.Revision, record.Lease, now, record.Counter}
	old := m.known.peers[id]
	m.known.peers[id] = next
	if old == nil || !reflect.DeepEqual(old.Peer, next.Peer) {
		m.announce()
	}
	if old != nil { // the error of this member was logged before
		return nil
	}
	return err
}

// applyClaim applies the record of a claim. The lock must be held.
func (m *Member) applyClaim(p int, r storage.Record, now time.Duration) error {
	holder, err := decodeClaim(r)
	m.known.claims[p] = claim{holder: holder, revision: r.Revision, seen: now, foreign: errors.Is(err, errVersion)}
	m.mine[p].Store(holder == m.id)
	m.announce()
	return err
}

// announce signals that View has changed. The lock must be held.
func (m *Member) announce() {
	m.known.cached = nil
	m.changed.Set()
	m.wake.Set()
}
