// Package share says which member should own which partition. It is a pure function: all members
// compute the same from the same view.
package share

import (
	"cmp"
	"slices"
)

// Plan returns the owner that each partition should have. members are those that may own partitions,
// in any order. holders has the present owner of each partition, where the zero ID is nobody.
//
// The shares of two members differ by at most one. A member keeps what it holds up to its share, and
// those that hold more have the larger shares, so as few partitions as possible move. Without
// members all belong to nobody.
func Plan[ID cmp.Ordered](members, holders []ID) []ID {
	plan := make([]ID, len(holders))
	free := quotas(members, holders, func(ID) int { return len(holders) })
	for p, h := range holders {
		if free[h] > 0 {
			free[h]--
			plan[p] = h
		}
	}
	var nobody ID
	next := 0
	members = sorted(members)
	for p := range plan {
		if plan[p] != nobody || len(members) == 0 {
			continue
		}
		for free[members[next]] == 0 {
			next++
		}
		plan[p] = members[next]
		free[members[next]]--
	}
	return plan
}

// quotas says how many partitions each member should have, of which it can take at most so many.
func quotas[ID cmp.Ordered](members, holders []ID, most func(ID) int) map[ID]int {
	members = sorted(members)
	held := make(map[ID]int, len(members))
	for _, h := range holders {
		held[h]++
	}
	slices.SortStableFunc(members, func(a, b ID) int { return held[b] - held[a] })
	quota, room := make(map[ID]int, len(members)), make(map[ID]int, len(members))
	for _, m := range members {
		room[m] = most(m)
	}
	for left := len(holders); left > 0 && len(members) > 0; { // one more for each
		members = slices.DeleteFunc(members, func(m ID) bool { return quota[m] == room[m] })
		for _, m := range members[:min(left, len(members))] {
			quota[m]++
			left--
		}
	}
	return quota
}

// sorted returns the members once each, without nobody.
func sorted[ID cmp.Ordered](members []ID) []ID {
	members = slices.Clone(members)
	slices.Sort(members)
	members = slices.Compact(members)
	var nobody ID
	return slices.DeleteFunc(members, func(m ID) bool { return m == nobody })
}
