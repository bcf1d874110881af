package member

import "slices"

// Plan returns the member that should own each partition, or nobody. It is a pure function of the view, so members that
// see the same records compute the same plan. If they see different records, the claims decide.
func (v *View) Plan() []ID { return plan(v.Living(), v.Holders(), v.unable()) }

// Living returns the IDs of the members that are not leaving, to which Plan assigns partitions.
func (v *View) Living() []ID {
	ids := make([]ID, 0, len(v.Members))
	for _, p := range v.Members {
		if !p.Leaving {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// Holders returns the holder of each partition's claim, or nobody if the claim is free.
func (v *View) Holders() []ID {
	ids := make([]ID, len(v.Claims))
	for i, c := range v.Claims {
		if !c.Free {
			ids[i] = c.Holder
		}
	}
	return ids
}

// unable returns, for each member, the sorted partitions that the member must not take. These are the partitions that
// it can't take. If its clock is off, they are also the partitions that it does not hold. If it is new, they are also
// the partitions that it does not hold and that an older member can take. So a process that dies soon after each start
// takes nothing from processes that live.
func (v *View) unable() map[ID][]int {
	unable := make(map[ID][]int)
	for _, p := range v.Members {
		for at, c := range v.Claims {
			if !p.Can(at) || c.Holder != p.ID && (p.Off || p.New && v.settledCan(at)) {
				unable[p.ID] = append(unable[p.ID], at)
			}
		}
	}
	return unable
}

// settledCan reports whether a member that is not new can take a partition.
func (v *View) settledCan(partition int) bool {
	return slices.ContainsFunc(v.Members, func(p Peer) bool { return !p.New && !p.Off && !p.Leaving && p.Can(partition) })
}

// Can reports whether the member can take a partition, as far as it knows.
func (p *Peer) Can(partition int) bool {
	_, unable := slices.BinarySearch(p.Unable, partition)
	return !unable
}

// plan returns the owner that each partition should have. members are those that may own partitions, in any order.
// holders has the present owner of each partition; the zero ID is nobody. unable has the partitions that each member
// can't take, sorted.
//
// The shares are as even as what the members can take allows. If all members can take all partitions, the shares of two
// members differ by at most one, and as few partitions as possible move: a member keeps the partitions that it holds up
// to its share, and members that hold more partitions have the larger shares. Nothing moves if the shares are even
// already. A partition that no member can take belongs to nobody.
func plan(members, holders []ID, unable map[ID][]int) []ID {
	members = slices.DeleteFunc(slices.Clone(members), func(m ID) bool { return m == 0 })
	slices.Sort(members)
	d := newDealing(slices.Compact(members), unable, len(holders))
	d.free = d.quotas(holders)
	for p, h := range holders {
		if d.free[h] > 0 && d.can(h, p) {
			d.give(p, h)
		}
	}
	for d.placeOne() {
	}
	return d.plan
}

// dealing is the state of a computation of plan.
type dealing struct {
	members []ID // sorted
	unable  map[ID][]int
	free    map[ID]int // by member: the number of partitions that it should have in addition
	plan    []ID
}

func newDealing(members []ID, unable map[ID][]int, partitions int) *dealing {
	return &dealing{members, unable, make(map[ID]int), make([]ID, partitions)}
}

// quotas returns the number of partitions that each member should have. Round after round, it adds one for each member,
// those first that hold more of what they can take, unless no partition is left that the member could take, possibly in
// place of one that others take over.
func (d *dealing) quotas(holders []ID) map[ID]int {
	held, quota := make(map[ID]int), make(map[ID]int, len(d.members))
	for p, h := range holders {
		if d.can(h, p) {
			held[h]++
		}
	}
	members := slices.Clone(d.members)
	slices.SortStableFunc(members, func(a, b ID) int { return held[b] - held[a] })
	trial := newDealing(d.members, d.unable, len(holders))
	for len(members) > 0 {
		members = slices.DeleteFunc(members, func(m ID) bool {
			trial.free[m] = 1
			if !trial.placeOne() {
				trial.free[m] = 0
				return true
			}
			quota[m]++
			return false
		})
	}
	return quota
}

// can reports whether a member can take a partition.
func (d *dealing) can(m ID, p int) bool {
	_, unable := slices.BinarySearch(d.unable[m], p)
	return !unable
}

func (d *dealing) give(p int, m ID) {
	d.free[m]--
	d.plan[p] = m
}

// placeOne places the first partition that is without a member and that a member can get. It reports whether there is
// one.
func (d *dealing) placeOne() bool {
	passed := make(map[ID]bool)
	for p, m := range d.plan {
		if m == 0 && d.place(p, passed) {
			return true
		}
	}
	return false
}

// place gives a partition to a member that should have more partitions. If none of these members can take it, place
// gives it to a full member, and moves one of the full member's partitions in the same way. passed has the full members
// that were tried. place reports whether it has found a member.
func (d *dealing) place(p int, passed map[ID]bool) bool {
	for _, m := range d.members {
		if d.free[m] > 0 && d.can(m, p) {
			d.give(p, m)
			return true
		}
	}
	for _, m := range d.members {
		if passed[m] || !d.can(m, p) {
			continue
		}
		passed[m] = true
		for q, of := range d.plan {
			if of == m && d.place(q, passed) {
				d.plan[p] = m // in place of q, so the number of its partitions stays the same
				return true
			}
		}
	}
	return false
}
