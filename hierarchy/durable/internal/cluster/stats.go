package cluster

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Member is one of the processes that share the name.
type Member struct {
	ID            string
	Text          string // the name of the member in logs
	Self, Leaving bool
	Owned         int // the number of partitions that the member owns
}

// Members returns the processes that have a lease, as far as this process knows, and for each partition the index of
// its owner among them, or -1.
func (c *Cluster) Members() (members []Member, owners []int) {
	s := c.latest()
	return membersOf(s.now().view, func(p *member.Peer, at int) bool {
		return p.ID != s.member.ID() || c.owned[at].Load() != nil
	})
}

// membersOf returns the members of a view, and for each partition the index of its owner among them, or -1. The owner
// is the holder of the claim, if the holder can write to the log and opens returns true for the holder.
func membersOf(view *member.View, opens func(p *member.Peer, at int) bool) (members []Member, owners []int) {
	place := make(map[member.ID]int, len(view.Members))
	for i, p := range view.Members {
		place[p.ID] = i
		members = append(members, Member{ID: p.ID.String(), Text: p.Name(), Leaving: p.Leaving, Self: p.ID == view.ID})
	}
	for at, claim := range view.Claims {
		i, ok := place[claim.Holder]
		if !ok || !view.Members[i].Can(at) || !opens(&view.Members[i], at) {
			i = -1
		} else {
			members[i].Owned++
		}
		owners = append(owners, i)
	}
	return members, owners
}

// Partition returns partition at if this process owns it, otherwise nil. The error is not nil if the log of the
// partition is damaged.
func (c *Cluster) Partition(at int) (p *partition.Partition, err error) {
	if why := c.broken[at].Load(); why != nil {
		return nil, *why
	}
	return c.owned[at].Load(), nil
}

// Stats returns the figures of partition at, added up over all times at which this process has owned it.
func (c *Cluster) Stats(at int) (st partition.Stats, owned bool, err error) {
	for {
		p, err := c.Partition(at)
		st = partition.Stats{}
		if p != nil {
			st = p.Stats()
		}
		c.mu.Lock()
		same := p == nil || p == c.owned[at].Load() // otherwise past already includes st
		st.AddPast(&c.past[at])
		s := c.session
		if p == nil {
			st.Unavailable = c.lost // zero unless the lease was lost
		}
		c.mu.Unlock()
		if p == nil && st.Unavailable.IsZero() {
			st.Unavailable = s.slots[at].unavailable()
		}
		if since := c.gone.Load(); since != nil && st.Unavailable.IsZero() {
			st.Unavailable = *since
		}
		if same {
			return st, p != nil && s.member.Owns(at) && s.slots[at].unable.Load() == nil, err
		}
	}
}

// closed adds the last figures of a partition that this process does not own any more to those in past. mu is held.
func (c *Cluster) closed(at int, st *partition.Stats) {
	c.owned[at].Store(nil)
	c.past[at].AddPast(st)
}
