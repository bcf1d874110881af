package member

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlan(t *testing.T) {
	for name, test := range map[string]struct{ members, holders, plan []ID }{
		"nobody":             {nil, []ID{1, 0, 2}, []ID{0, 0, 0}},
		"no partitions":      {[]ID{1}, nil, []ID{}},
		"first":              {[]ID{7}, []ID{0, 0, 0}, []ID{7, 7, 7}},
		"second joins":       {[]ID{1, 2}, []ID{1, 1, 1, 1}, []ID{1, 1, 2, 2}},
		"one is gone":        {[]ID{1, 3}, []ID{1, 1, 2, 2, 3, 3}, []ID{1, 1, 1, 3, 3, 3}},
		"the rest":           {[]ID{1, 2}, []ID{2, 2, 2, 1, 1}, []ID{2, 2, 2, 1, 1}},
		"more members":       {[]ID{1, 2, 3}, []ID{3, 0}, []ID{3, 1}},
		"who has more first": {[]ID{1, 2, 3}, []ID{3, 3, 3, 3}, []ID{3, 3, 1, 2}},
		"twice":              {[]ID{2, 1, 2, 0}, []ID{0, 0}, []ID{1, 2}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.plan, plan(test.members, test.holders, nil)) })
	}
}

// check checks all that Plan promises.
func check(t *testing.T, members, holders []ID) {
	t.Helper()
	before := [2][]ID{slices.Clone(members), slices.Clone(holders)}
	is := plan(members, holders, nil)
	require.Equal(t, before, [2][]ID{members, holders}, "the arguments are not changed")
	require.Len(t, is, len(holders))
	living := make(map[ID]bool)
	for _, m := range members {
		living[m] = m != 0
	}
	delete(living, 0)
	if len(living) == 0 {
		require.Equal(t, make([]ID, len(holders)), is)
		return
	}
	count := make(map[ID]int)
	for _, m := range is {
		require.True(t, living[m], "%d lives", m)
		count[m]++
	}
	for m := range living {
		require.Contains(t, []int{len(holders) / len(living), (len(holders) + len(living) - 1) / len(living)}, count[m])
	}
	require.Equal(t, mostKept(living, holders), kept(holders, is), "as few moves as possible: %v %v %v", members, holders, plan)
	require.Equal(t, is, plan(members, is, nil), "nothing moves when nothing has changed")
	slices.Reverse(members)
	require.Equal(t, is, plan(members, holders, nil), "the order of members means nothing")
}

func kept(holders, plan []ID) (n int) {
	for i, h := range holders {
		if h != 0 && h == plan[i] {
			n++
		}
	}
	return n
}

// mostKept tries each choice of who has the larger shares.
func mostKept(living map[ID]bool, holders []ID) (most int) {
	var members []ID
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
		members := []ID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		members = members[:r.IntN(8)]
		holders := make([]ID, r.IntN(20))
		for i := range holders {
			holders[i] = ID(r.IntN(1 + r.IntN(12)))
		}
		check(t, members, holders)
	}
}

// Members that come and go, one at a time, move little.
func TestComingAndGoing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	members, holders := []ID{1}, make([]ID, 64)
	for next := ID(2); next < 500; next++ {
		before := len(members)
		if len(members) > 1 && r.IntN(2) == 0 {
			members = slices.Delete(members, 0, 1)
		} else if len(members) < 10 {
			members = append(members, next)
		}
		is := plan(members, holders, nil)
		if next > 2 {
			moved := len(holders) - kept(holders, is)
			require.LessOrEqual(t, moved, len(holders)/min(before, len(members))+1)
		}
		holders = is
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 1, 1, 4, 0, 2})
	f.Fuzz(func(t *testing.T, members, holders []byte) {
		if len(members) > 9 || len(holders) > 40 {
			t.Skip()
		}
		check(t, ids(members), ids(holders))
	})
}

func ids(b []byte) []ID {
	out := make([]ID, len(b))
	for i, v := range b {
		out[i] = ID(v % 12)
	}
	return out
}

func TestPlanAble(t *testing.T) {
	all, eight := []int{0, 1, 2, 3}, []int{0, 1, 2, 3, 4, 5, 6, 7}
	for name, c := range map[string]struct {
		members, holders string
		unable           map[ID][]int
		plan             string
	}{
		"all can":                   {"ab", "bbbb", nil, "bbaa"},
		"old one keeps what it can": {"ab", "aaaa", map[ID][]int{'a': {0, 1}}, "bbaa"},
		"old one gets what it can":  {"ab", "bbbb", map[ID][]int{'a': {2, 3}}, "aabb"},
		"old one can do little":     {"ab", "bbbb", map[ID][]int{'a': {1, 2, 3}}, "abbb"},
		"old one can do nothing":    {"ab", "bbbb", map[ID][]int{'a': all}, "bbbb"},
		"nobody can":                {"a", "aaaa", map[ID][]int{'a': all}, "----"},
		"nobody can one":            {"ab", "aabb", map[ID][]int{'a': {1}, 'b': {1}}, "a-bb"},
		"free ones":                 {"ab", "----", map[ID][]int{'a': {0, 3}}, "baab"},
		"nobody there":              {"", "aaaa", map[ID][]int{'a': {1}}, "----"},
		"with nothing to take":      {"abcde", "aaaabbbb", map[ID][]int{'c': eight, 'd': eight, 'e': eight}, "aaaabbbb"},
		"with what it has":          {"abc", "aaaabbbc", map[ID][]int{'c': eight[:7]}, "aaaabbbc"},
		"moves over another":        {"abc", "ccc", map[ID][]int{'a': {1, 2}, 'b': {2}}, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, letters(c.plan), plan(letters(c.members), letters(c.holders), c.unable))
		})
	}
}

// letters returns an ID for each letter. A hyphen is nobody.
func letters(s string) []ID {
	out := make([]ID, len(s))
	for i, c := range s {
		if c != '-' {
			out[i] = ID(c)
		}
	}
	return out
}

// Nobody gets what it can't take, all is taken that somebody can take, and partitions do not
// move for ever.
func TestPlanAbleAtRandom(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		members := []ID{1, 2, 3, 4}[:1+r.IntN(4)]
		holders := make([]ID, 1+r.IntN(12))
		for p := range holders {
			holders[p] = ID(r.IntN(6))
		}
		unable := make(map[ID][]int)
		for _, m := range members {
			for p := range holders {
				if r.IntN(3) == 0 {
					unable[m] = append(unable[m], p)
				}
			}
		}
		can := func(m ID, p int) bool { return !slices.Contains(unable[m], p) }
		is := plan(members, holders, unable)
		for p, m := range is {
			if m == 0 {
				for _, m := range members {
					require.False(t, can(m, p), seed)
				}
				continue
			}
			require.True(t, can(m, p), seed)
		}
		require.Equal(t, is, plan(members, holders, unable), seed)
		idle := slices.DeleteFunc(slices.Clone(members), func(m ID) bool { return len(unable[m]) == len(holders) })
		require.Equal(t, plan(idle, holders, unable), is, "those that can take nothing change nothing: %d", seed)
		next := is
		for range 3 {
			next = plan(members, next, unable)
		}
		require.Equal(t, next, plan(members, next, unable), seed)
	}
}
