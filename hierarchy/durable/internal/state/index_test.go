package state

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// check finds that the tree is as its fields say, and returns its keys.
func (o *order) check(t *testing.T, r *records) (keys []string) {
	if o.root == nil {
		return nil
	}
	depth := 0
	for n := o.root; n.kids != nil; n = n.kids[0] {
		depth++
	}
	var visit func(n *node, depth int, from, to string)
	visit = func(n *node, depth int, from, to string) {
		if require.Equal(t, depth == 0, n.kids == nil, "all leaves are at the same depth"); depth == 0 {
			require.NotEmpty(t, n.refs)
			require.Less(t, len(n.refs), nodeWidth)
			require.LessOrEqual(t, cap(n.refs), nodeWidth)
			require.Len(t, n.heads, len(n.refs))
			for k, i := range n.refs {
				key := r.at(i).key()
				require.True(t, strings.HasPrefix(key, n.base))
				require.Equal(t, head(key[len(n.base):]), n.heads[k])
				require.GreaterOrEqual(t, key, from)
				require.True(t, to == "" || key < to)
				keys = append(keys, key)
			}
			return
		}
		require.Less(t, len(n.kids), nodeWidth)
		require.Len(t, n.marks, len(n.kids)-1)
		for k, kid := range n.kids {
			left, right := from, to
			if k > 0 {
				left = n.marks[k-1]
			}
			if k < len(n.marks) {
				right = n.marks[k]
			}
			visit(kid, depth-1, left, right)
		}
	}
	visit(o.root, depth, "", "")
	require.True(t, slices.IsSorted(keys))
	return keys
}

// checkIndex finds that the index has each timer once, in the place of its state.
func (s *State) checkIndex(t *testing.T) {
	var want [3][]string
	for i := range s.records.next {
		if r := s.records.timer(i); r != nil {
			place := map[status]int{waiting: 0, held: 0, running: 1, dead: 2}[r.state]
			if s.Left(Ref(i)) != 0 {
				place = 1
			}
			want[place] = append(want[place], r.key())
		}
	}
	for k := range want {
		slices.Sort(want[k])
		require.Equal(t, want[k], s.index.orders[k].check(t, &s.records), k)
	}
}

// Nodes that split and empty, in all directions, leave a tree that is right.
func TestOrder(t *testing.T) {
	const n = 40_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%08d", i)
	}
	directions := map[string]func([]string){
		"ascending": func([]string) {}, "descending": slices.Reverse[[]string],
		"random": func(k []string) {
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(k), func(i, j int) { k[i], k[j] = k[j], k[i] })
		},
	}
	for in, arrange := range directions {
		for out, rearrange := range directions {
			t.Run(in+" "+out, func(t *testing.T) {
				s := New()
				require.True(t, s.Index(1))
				order := slices.Clone(keys)
				arrange(order)
				for i, key := range order {
					require.NoError(t, s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Set, Key: []byte(key)}))
					if i%(n/4) == 0 {
						s.checkIndex(t)
					}
				}
				require.Equal(t, keys, s.index.orders[0].check(t, &s.records))
				order = slices.Clone(keys)
				rearrange(order)
				for i, key := range order {
					require.NoError(t, s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Remove, Key: []byte(key)}))
					if i%(n/4) == 0 {
						s.checkIndex(t)
					}
				}
				require.Nil(t, s.index.orders[0].root)
			})
		}
	}
}

// A State that nobody lists has no index. One that was listed has one of at most 16 bytes for each timer.
func TestIndexMemory(t *testing.T) {
	for _, random := range []bool{false, true} {
		const n = 200_000
		s := New()
		for i := range n {
			key := fmt.Sprintf("key %08d", i)
			if random {
				key = fmt.Sprintf("key %016x", rand.Uint64())
			}
			require.NoError(t, s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Set, Key: []byte(key)}))
		}
		require.Zero(t, s.index)
		before := heap()
		for !s.Index(1000) {
		}
		each := float64(heap()-before) / n
		t.Logf("random=%v: %.1f bytes for each", random, each)
		require.LessOrEqual(t, each, 16.0)
		runtime.KeepAlive(s)
	}
}

func benchKeys(n int, random bool) []string {
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]string, n)
	for i := range keys {
		if keys[i] = fmt.Sprintf("order-%08d", i); random {
			keys[i] = fmt.Sprintf("order-%016x", r.Uint64())
		}
	}
	return keys
}

// BenchmarkIndex builds the index of n timers.
func BenchmarkIndex(b *testing.B) {
	for _, random := range []bool{false, true} {
		const n = 1_000_000
		b.Run(fmt.Sprintf("random=%v/n=%d", random, n), func(b *testing.B) {
			s := New()
			for _, key := range benchKeys(n, random) {
				_ = s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Set, Key: []byte(key), Value: make([]byte, 100)})
			}
			for b.Loop() {
				s.index = index{}
				for i := range s.records.next {
					s.records.at(i).listed = 0
				}
				for !s.Index(128) {
				}
			}
		})
	}
}

// BenchmarkIndexed sets and removes a timer beside n others, with an index and without one.
func BenchmarkIndexed(b *testing.B) {
	for _, indexed := range []bool{false, true} {
		const n = 1_000_000
		b.Run(fmt.Sprintf("indexed=%v/n=%d", indexed, n), func(b *testing.B) {
			s := New()
			keys := benchKeys(2*n, true)
			value := make([]byte, 100)
			for _, key := range keys[:n] {
				_ = s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Set, Key: []byte(key), Value: value})
			}
			for indexed && !s.Index(1000) {
			}
			i := 0
			for b.Loop() {
				_ = s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Set, Key: []byte(keys[(n+i)%(2*n)]), Value: value})
				_ = s.Apply(&frame.Header{}, &frame.Op{Kind: frame.Remove, Key: []byte(keys[i%(2*n)])})
				i++
			}
		})
	}
}
