package share

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlanAble(t *testing.T) {
	all, eight := []int{0, 1, 2, 3}, []int{0, 1, 2, 3, 4, 5, 6, 7}
	for name, c := range map[string]struct {
		members, holders string
		unable           map[byte][]int
		plan             string
	}{
		"all can":                   {"ab", "bbbb", nil, "bbaa"},
		"old one keeps what it can": {"ab", "aaaa", map[byte][]int{'a': {0, 1}}, "bbaa"},
		"old one gets what it can":  {"ab", "bbbb", map[byte][]int{'a': {2, 3}}, "aabb"},
		"old one can do little":     {"ab", "bbbb", map[byte][]int{'a': {1, 2, 3}}, "abbb"},
		"old one can do nothing":    {"ab", "bbbb", map[byte][]int{'a': all}, "bbbb"},
		"nobody can":                {"a", "aaaa", map[byte][]int{'a': all}, "----"},
		"nobody can one":            {"ab", "aabb", map[byte][]int{'a': {1}, 'b': {1}}, "a-bb"},
		"free ones":                 {"ab", "----", map[byte][]int{'a': {0, 3}}, "baab"},
		"nobody there":              {"", "aaaa", map[byte][]int{'a': {1}}, "----"},
		"with nothing to take":      {"abcde", "aaaabbbb", map[byte][]int{'c': eight, 'd': eight, 'e': eight}, "aaaabbbb"},
		"with what it has":          {"abc", "aaaabbbc", map[byte][]int{'c': eight[:7]}, "aaaabbbc"},
		"moves over another":        {"abc", "ccc", map[byte][]int{'a': {1, 2}, 'b': {2}}, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			holders := []byte(c.holders)
			for i, h := range holders {
				if h == '-' {
					holders[i] = 0
				}
			}
			plan := PlanAble([]byte(c.members), holders, c.unable)
			for i, h := range plan {
				if h == 0 {
					plan[i] = '-'
				}
			}
			require.Equal(t, c.plan, string(plan))
		})
	}
}

// Nobody gets what it can't take, all is taken that somebody can take, and partitions do not
// move for ever.
func TestPlanAbleAtRandom(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		members := []int{1, 2, 3, 4}[:1+r.IntN(4)]
		holders := make([]int, 1+r.IntN(12))
		for p := range holders {
			holders[p] = r.IntN(6)
		}
		unable := make(map[int][]int)
		for _, m := range members {
			for p := range holders {
				if r.IntN(3) == 0 {
					unable[m] = append(unable[m], p)
				}
			}
		}
		can := func(m, p int) bool { return !slices.Contains(unable[m], p) }
		plan := PlanAble(members, holders, unable)
		for p, m := range plan {
			if m == 0 {
				for _, m := range members {
					require.False(t, can(m, p), seed)
				}
				continue
			}
			require.True(t, can(m, p), seed)
		}
		require.Equal(t, plan, PlanAble(members, holders, unable), seed)
		idle := slices.DeleteFunc(slices.Clone(members), func(m int) bool { return len(unable[m]) == len(holders) })
		require.Equal(t, PlanAble(idle, holders, unable), plan, "those that can take nothing change nothing: %d", seed)
		next := plan
		for range 3 {
			next = PlanAble(members, next, unable)
		}
		require.Equal(t, next, PlanAble(members, next, unable), seed)
	}
}
