package share_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/share"
)

func TestPlan(t *testing.T) {
	for name, test := range map[string]struct{ members, holders, plan []int }{
		"nobody":             {nil, []int{1, 0, 2}, []int{0, 0, 0}},
		"no partitions":      {[]int{1}, nil, []int{}},
		"first":              {[]int{7}, []int{0, 0, 0}, []int{7, 7, 7}},
		"second joins":       {[]int{1, 2}, []int{1, 1, 1, 1}, []int{1, 1, 2, 2}},
		"one is gone":        {[]int{1, 3}, []int{1, 1, 2, 2, 3, 3}, []int{1, 1, 1, 3, 3, 3}},
		"the rest":           {[]int{1, 2}, []int{2, 2, 2, 1, 1}, []int{2, 2, 2, 1, 1}},
		"more members":       {[]int{1, 2, 3}, []int{3, 0}, []int{3, 1}},
		"who has more first": {[]int{1, 2, 3}, []int{3, 3, 3, 3}, []int{3, 3, 1, 2}},
		"twice":              {[]int{2, 1, 2, 0}, []int{0, 0}, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.plan, share.Plan(test.members, test.holders)) })
	}
}

// check checks all that Plan promises.
func check(t *testing.T, members, holders []int) {
	t.Helper()
	before := [2][]int{slices.Clone(members), slices.Clone(holders)}
	plan := share.Plan(members, holders)
	require.Equal(t, before, [2][]int{members, holders}, "the arguments are not changed")
	require.Len(t, plan, len(holders))
	living := make(map[int]bool)
	for _, m := range members {
		living[m] = m != 0
	}
	delete(living, 0)
	if len(living) == 0 {
		require.Equal(t, make([]int, len(holders)), plan)
		return
	}
	count := make(map[int]int)
	for _, m := range plan {
		require.True(t, living[m], "%d lives", m)
		count[m]++
	}
	for m := range living {
		require.Contains(t, []int{len(holders) / len(living), (len(holders) + len(living) - 1) / len(living)}, count[m])
	}
	require.Equal(t, mostKept(living, holders), kept(holders, plan), "as few moves as possible: %v %v %v", members, holders, plan)
	require.Equal(t, plan, share.Plan(members, plan), "nothing moves when nothing has changed")
	slices.Reverse(members)
	require.Equal(t, plan, share.Plan(members, holders), "the order of members means nothing")
}

func kept(holders, plan []int) (n int) {
	for i, h := range holders {
		if h != 0 && h == plan[i] {
			n++
		}
	}
	return n
}

// mostKept tries each choice of who has the larger shares.
func mostKept(living map[int]bool, holders []int) (most int) {
	var members []int
	for m := range living {
		members = append(members, m)
	}
	less, larger := len(holders)/len(members), len(holders)%len(members)
	for choice := range 1 << len(members) {
		n, chosen := 0, 0
		for i, m := range members {
			quota := less
			if choice>>i&1 == 1 {
				quota++
				chosen++
			}
			held := 0
			for _, h := range holders {
				if h == m {
					held++
				}
			}
			n += min(held, quota)
		}
		if chosen == larger {
			most = max(most, n)
		}
	}
	return most
}

func TestRandomPlans(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		members := r.Perm(12)[:r.IntN(8)]
		holders := make([]int, r.IntN(20))
		for i := range holders {
			holders[i] = r.IntN(1 + r.IntN(12))
		}
		check(t, members, holders)
	}
}

// Members that come and go, one at a time, move little.
func TestComingAndGoing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	members, holders := []int{1}, make([]int, 64)
	for next := 2; next < 500; next++ {
		before := len(members)
		if len(members) > 1 && r.IntN(2) == 0 {
			members = slices.Delete(members, 0, 1)
		} else if len(members) < 10 {
			members = append(members, next)
		}
		plan := share.Plan(members, holders)
		if next > 2 {
			moved := len(holders) - kept(holders, plan)
			require.LessOrEqual(t, moved, len(holders)/min(before, len(members))+1)
		}
		holders = plan
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 1, 1, 4, 0, 2})
	f.Fuzz(func(t *testing.T, members, holders []byte) {
		if len(members) > 9 || len(holders) > 40 {
			t.Skip()
		}
		check(t, ints(members), ints(holders))
	})
}

func ints(b []byte) []int {
	out := make([]int, len(b))
	for i, v := range b {
		out[i] = int(v % 12)
	}
	return out
}
