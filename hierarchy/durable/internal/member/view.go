package member

import "slices"

// View is what a member knows of all. It does not change, and what it says may be old: each claim is
// decided by the table.
type View struct {
	ID      ID
	Members []Peer  // sorted by ID: all that have a lease, this one included until it is lost
	Claims  []Claim // by partition
}

// Peer is a member that has a lease.
type Peer struct {
	ID      ID
	Text    string
	Leaving bool
	New     bool  // it takes nothing yet that others can take
	Off     bool  // its wall clock is: it takes nothing over
	Unable  []int // sorted: the partitions that it can't take
	// The latest versions of frames, and of messages between processes, that it reads.
	Log, Wire int
	Plan      int // the rule of shares that it follows
}

// planRule is the rule of shares that this program follows. By rule 0 a new member has its share at once.
const planRule = 1

func (p *Peer) is(other *Peer) bool {
	return p.ID == other.ID && p.Text == other.Text && p.Leaving == other.Leaving && p.New == other.New && p.Off == other.Off &&
		slices.Equal(p.Unable, other.Unable) && p.Log == other.Log && p.Wire == other.Wire &&
		p.Plan == other.Plan
}

// Claim says who may own a partition.
type Claim struct {
	Holder ID // 0: nobody
	// Free: Claim can take it, as nobody holds it, or its holder's lease was deleted. A holder that
	// has a lease, and one of which nothing is known yet, is left in peace.
	Free bool
}

// Living returns the IDs of the members that are not leaving: those that share.Plan deals out to.
func (v *View) Living() []ID {
	ids := make([]ID, 0, len(v.Members))
	for _, p := range v.Members {
		if !p.Leaving {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// Holders returns the holder of each partition, or nobody if it is free.
func (v *View) Holders() []ID {
	ids := make([]ID, len(v.Claims))
	for i, c := range v.Claims {
		if !c.Free {
			ids[i] = c.Holder
		}
	}
	return ids
}

// Unable returns those of the members that may not take all partitions, and which they may not: what they can't
// take, of one whose clock is off what it does not hold, and of a new member what it does not hold and another
// can take that is not new. So one that dies soon after each start takes nothing from those that live. Beside
// members that do not know the rule of new ones, it does not hold: else they would leave to a new one what that
// leaves to them.
func (v *View) Unable() map[ID][]int {
	unable := make(map[ID][]int)
	older := slices.ContainsFunc(v.Members, func(p Peer) bool { return p.Plan < planRule })
	for _, p := range v.Members {
		switch {
		case p.Off:
			p.Unable = v.notHeld(&p)
		case p.New && !older:
			p.Unable = v.notYet(&p)
		}
		if len(p.Unable) > 0 {
			unable[p.ID] = p.Unable
		}
	}
	return unable
}

// notHeld returns the partitions that a member may not take whose clock is off.
func (v *View) notHeld(p *Peer) (all []int) {
	for at, c := range v.Claims {
		if c.Holder != p.ID || !p.can(at) {
			all = append(all, at)
		}
	}
	return all
}

// notYet returns the partitions that a new member may not take.
func (v *View) notYet(p *Peer) (all []int) {
	for at, c := range v.Claims {
		others := slices.ContainsFunc(v.Members, func(o Peer) bool { return !o.New && !o.Off && !o.Leaving && o.can(at) })
		if !p.can(at) || others && c.Holder != p.ID {
			all = append(all, at)
		}
	}
	return all
}

// can reports whether the member can take a partition, as far as it knows.
func (p *Peer) can(partition int) bool {
	_, unable := slices.BinarySearch(p.Unable, partition)
	return !unable
}

// Peer returns the member with that ID, if it has a lease.
func (v *View) Peer(id ID) (Peer, bool) {
	for _, p := range v.Members {
		if p.ID == id {
			return p, true
		}
	}
	return Peer{}, false
}
