package member

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The clauses of plans. They say what a plan is, not how it is found.

// may reports whether a plan may give a partition to a member.
func (v *View) may(m Peer, at int) bool {
	switch {
	case m.Leaving || slices.Contains(m.Unable, at):
		return false
	case v.Claims[at].Holder == m.ID:
		return true
	case m.Off:
		return false
	}
	return !m.New || !slices.ContainsFunc(v.Members, func(o Peer) bool {
		return !o.New && !o.Off && !o.Leaving && !slices.Contains(o.Unable, at)
	})
}

// judgePlan checks the plan for a view.
func judgePlan(v *View) error {
	plan := v.Plan()
	for at, to := range plan {
		whom := slices.DeleteFunc(slices.Clone(v.Members), func(m Peer) bool { return !v.may(m, at) })
		if !slices.ContainsFunc(whom, func(m Peer) bool { return m.ID == to }) && (to != 0 || len(whom) > 0) {
			return fmt.Errorf("plan: %v gives partition %d to %v: %+v", plan, at, to, v)
		}
	}
	if from, to, ok := v.uneven(plan); ok {
		return fmt.Errorf("even: %v gives more to %v than to %v: %+v", plan, from, to, v)
	}
	if again := v.after(plan).Plan(); !slices.Equal(again, plan) {
		return fmt.Errorf("still: %v becomes %v: %+v", plan, again, v)
	}
	if most, ok := v.mostKept(); ok && v.kept(plan) < most {
		return fmt.Errorf("moves: %v leaves %d partitions where they are, not %d: %+v", plan, v.kept(plan), most, v)
	}
	other := &View{ID: v.ID + 1, Members: slices.Clone(v.Members), Claims: v.Claims}
	slices.Reverse(other.Members)
	if theirs := other.Plan(); !slices.Equal(theirs, plan) {
		return fmt.Errorf("same: %v and %v: %+v", plan, theirs, v)
	}
	return nil
}

// uneven returns two members of which the first has two more partitions than the second, which could get one of these,
// possibly in place of one that others take over in the same way.
func (v *View) uneven(plan []ID) (from, to ID, ok bool) {
	shares := make(map[ID]int)
	for _, to := range plan {
		shares[to]++
	}
	for _, m := range v.Members {
		reached := map[ID]bool{m.ID: true}
		for before := 0; before < len(reached); {
			before = len(reached)
			for at, has := range plan {
				for _, n := range v.Members {
					reached[n.ID] = reached[n.ID] || reached[has] && v.may(n, at)
				}
			}
			maps.DeleteFunc(reached, func(_ ID, is bool) bool { return !is })
		}
		for n := range reached {
			if shares[m.ID] > shares[n]+1 {
				return m.ID, n, true
			}
		}
	}
	return 0, 0, false
}

// after returns the view when all partitions have the owners of a plan.
func (v *View) after(plan []ID) *View {
	next := &View{ID: v.ID, Members: v.Members, Claims: slices.Clone(v.Claims)}
	for at, to := range plan {
		if to != 0 {
			next.Claims[at] = Claim{Holder: to}
		}
	}
	return next
}

func (v *View) kept(plan []ID) (n int) {
	for at, to := range plan {
		if to != 0 && v.Claims[at].Holder == to {
			n++
		}
	}
	return n
}

// mostKept returns how many partitions can stay where they are, if the shares are even: those that hold more have the
// larger shares. ok is false if not all members that aren't leaving may take all partitions.
func (v *View) mostKept() (n int, ok bool) {
	held := make(map[ID]int)
	for _, m := range v.Members {
		if m.Leaving {
			continue
		}
		held[m.ID] = 0
		for at, c := range v.Claims {
			if !v.may(m, at) {
				return 0, false
			}
			if c.Holder == m.ID {
				held[m.ID]++
			}
		}
	}
	for i, h := range slices.Backward(slices.Sorted(maps.Values(held))) {
		larger := 0
		if len(held)-1-i < len(v.Claims)%len(held) {
			larger = 1
		}
		n += min(h, len(v.Claims)/len(held)+larger)
	}
	return n, true
}

// What a plan prefers among equals. Members of several versions share a table, and must plan the same.
func TestPlan(t *testing.T) {
	for name, test := range map[string]struct{ members, holders, plan []ID }{
		"first":              {[]ID{7}, []ID{0, 0, 0}, []ID{7, 7, 7}},
		"second joins":       {[]ID{1, 2}, []ID{1, 1, 1, 1}, []ID{1, 1, 2, 2}},
		"one is gone":        {[]ID{1, 3}, []ID{1, 1, 2, 2, 3, 3}, []ID{1, 1, 1, 3, 3, 3}},
		"more members":       {[]ID{1, 2, 3}, []ID{3, 0}, []ID{3, 1}},
		"who has more first": {[]ID{1, 2, 3}, []ID{3, 3, 3, 3}, []ID{3, 3, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.plan, plan(test.members, test.holders, nil)) })
	}
}

// Plans for random views are as the clauses say.
func TestPlansOfRandomViews(t *testing.T) {
	for seed := range uint64(20_000) {
		v := randomView(rand.New(rand.NewPCG(seed, 7)))
		before := fmt.Sprint(v)
		require.NoError(t, judgePlan(v), "seed %d", seed)
		require.Equal(t, before, fmt.Sprint(v), "Plan changes nothing")
	}
}

func randomView(r *rand.Rand) *View {
	v := &View{Claims: make([]Claim, r.IntN(10))}
	n, rare := r.IntN(6), 1+r.IntN(12)
	seldom := func() bool { return rare < 10 && r.IntN(rare+2) == 0 }
	for id := range ID(n) {
		m := Peer{ID: id + 1, Leaving: r.IntN(8) == 0, New: seldom(), Off: seldom()}
		for at := range v.Claims {
			if seldom() {
				m.Unable = append(m.Unable, at)
			}
		}
		v.Members = append(v.Members, m)
	}
	for at := range v.Claims {
		holder := ID(r.IntN(1 + r.IntN(n+3))) // those above n are dead, or not known
		v.Claims[at] = Claim{holder, holder == 0 || holder > ID(n) && r.IntN(2) == 0}
	}
	return v
}
