package share

import (
	"cmp"
	"slices"
)

// PlanAble is Plan for members some of which can't take all partitions: unable has, for each of these,
// the partitions that it can't take, sorted. What nobody can take belongs to nobody. The shares are as even
// as that allows, and who can take little leaves the others even shares of the rest.
func PlanAble[ID cmp.Ordered](members, holders []ID, unable map[ID][]int) []ID {
	if len(unable) == 0 {
		return Plan(members, holders)
	}
	d := dealing[ID]{members: sorted(members), unable: unable, plan: make([]ID, len(holders))}
	d.free = quotas(members, holders, d.most)
	for p, h := range holders {
		if d.free[h] > 0 && d.can(h, p) {
			d.give(p, h)
		}
	}
	var nobody ID
	for p := range d.plan {
		if d.plan[p] == nobody {
			d.place(p, make(map[ID]bool))
		}
	}
	for p, h := range holders {
		if d.plan[p] == nobody {
			d.give(p, d.beyond(p, h))
		}
	}
	return d.plan
}

// dealing is a plan that is being made.
type dealing[ID cmp.Ordered] struct {
	members []ID // sorted
	unable  map[ID][]int
	free    map[ID]int // how many partitions each member should have besides
	plan    []ID
}

func (d *dealing[ID]) can(m ID, p int) bool {
	_, unable := slices.BinarySearch(d.unable[m], p)
	return !unable
}

// most is how many partitions a member can take.
func (d *dealing[ID]) most(m ID) (n int) {
	for p := range d.plan {
		if d.can(m, p) {
			n++
		}
	}
	return n
}

func (d *dealing[ID]) give(p int, m ID) {
	d.free[m]--
	d.plan[p] = m
}

// place finds a member for a partition, if need be by having others move. passed are the members that
// are full, and from which nothing can be moved.
func (d *dealing[ID]) place(p int, passed map[ID]bool) bool {
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
				d.plan[p] = m // q's place: the count stays
				return true
			}
		}
	}
	return false
}

// beyond is who takes a partition beyond its share: the one that has least beside its share, if possible
// the holder. It is nobody if no member can.
func (d *dealing[ID]) beyond(p int, holder ID) (best ID) {
	found := false
	for _, m := range d.members {
		if d.can(m, p) && (!found || d.free[m] > d.free[best] || d.free[m] == d.free[best] && m == holder) {
			best, found = m, true
		}
	}
	return best
}
