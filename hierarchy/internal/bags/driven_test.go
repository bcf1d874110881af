package bags

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/stretchr/testify/require"
)

type driven struct {
	Circles
	seq  uint64
	now  int64
	vals [][]int
}

func newDriven() *driven {
	d := &driven{}
	d.Init(circles.NewLayout(time.Second).Signed(), DefaultTuning(), 0)
	d.touch = func(i uint32) { sink += d.vals[i>>ChunkBits][i&(chunkLen-1)] }
	return d
}

var seeds = flag.Int("seeds", 30, "how many random programs are compared with the model")

var sink int

var checkAll = os.Getenv("CHECK") != ""

type handle struct {
	gen uint64
	i   uint32
}

func (d *driven) Set(v int, due int64) handle {
	d.seq++
	i := d.Add(d.now, due, d.seq, 0)
	for int(i>>ChunkBits) >= len(d.vals) {
		d.vals = append(d.vals, make([]int, chunkLen))
	}
	d.vals[i>>ChunkBits][i&(chunkLen-1)] = v
	return handle{d.seq, i}
}
func (d *driven) MoveTo(h handle, due int64) bool {
	n := d.arena.Lookup(h.i, h.gen)
	if n == nil {
		return false
	}
	d.seq++
	d.Move(h.i, n, d.now, due, d.seq)
	return true
}
func (d *driven) Drop(h handle) bool {
	n := d.arena.Lookup(h.i, h.gen)
	if n == nil {
		return false
	}
	d.Remove(h.i, n)
	return true
}
func (d *driven) pop(now int64) (v int, due int64, ok bool) {
	d.now = max(d.now, now)
	x := d.Next(d.now, math.MaxInt)
	if x.State != circles.Due {
		return 0, 0, false
	}
	v = d.vals[x.Node>>ChunkBits][x.Node&(chunkLen-1)]
	d.Remove(x.Node, d.arena.At(x.Node))
	return v, x.At, true
}

type ref struct {
	due int64
	ord int
	v   int
	h   handle
}

func TestModel(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { model(t, uint64(seed)) })
	}
}

func model(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	d := newDriven()
	d.tuning.SortUpTo = []int{0, 1, 3, 30, 512}[r.IntN(5)]
	var m []ref
	ord := 0
	span := int64(1) << (r.IntN(50) + 1)
	sets := 1 + r.IntN(30)
	due := func() int64 {
		switch r.IntN(8) {
		case 0:
			return d.now
		case 1:
			return d.now - r.Int64N(span)
		case 2:
			return d.now + span/2
		case 3:
			return d.now + r.Int64N(span*8)
		}
		return d.now + r.Int64N(span)
	}
	less := func(a, b ref) bool { return a.due < b.due || a.due == b.due && a.ord < b.ord }
	for op := range 1500 {
		switch r.IntN(12) {
		case 0, 1, 2:
			for range 1 + r.IntN(sets*30) {
				ord++
				at := due()
				m = append(m, ref{at, ord, ord, d.Set(ord, at)})
			}
		case 3, 4:
			for range min(len(m), 1+r.IntN(sets)) {
				j := r.IntN(len(m))
				require.True(t, d.Drop(m[j].h))
				require.False(t, d.Drop(m[j].h))
				m[j] = m[len(m)-1]
				m = m[:len(m)-1]
			}
		case 5, 6, 7:
			for range min(len(m), 1+r.IntN(sets*20)) {
				j := r.IntN(len(m))
				ord++
				m[j].due, m[j].ord = due(), ord
				require.True(t, d.MoveTo(m[j].h, m[j].due))
			}
		case 8:
			i := d.Earliest()
			if len(m) == 0 {
				require.Zero(t, i)
				break
			}
			best := m[0]
			for _, x := range m {
				if less(x, best) {
					best = x
				}
			}
			if best.h.i != i {
				d.describe(best.h.i)
				d.describe(i)
			}
			require.Equal(t, best.h.i, i)
		default:
			now := d.now + r.Int64N(span/4+1)
			sort.Slice(m, func(i, j int) bool { return less(m[i], m[j]) })
			for stop := r.IntN(2000); stop > 0; stop-- {
				if x := d.Next(max(now, d.now), math.MaxInt); checkAll && x.State == circles.Due && x.Node != m[0].h.i {
					d.describe(x.Node)
					d.describe(m[0].h.i)
				}
				v, at, ok := d.pop(now)
				if !ok {
					if len(m) > 0 {
						require.Greater(t, m[0].due, d.now, "op %d", op)
					}
					break
				}
				require.Equal(t, m[0].v, v, "op %d", op)
				require.Equal(t, m[0].due, at)
				m = m[1:]
			}
		}
		if op%20 == 0 || checkAll {
			require.NoError(t, d.Check(), "op %d", op)
		}
		require.Equal(t, len(m), d.arena.Len())
	}
}

func (d *driven) describe(i uint32) {
	n := d.arena.At(i)
	fmt.Println("node", i, "key", n.Key, "order", n.Order(), "circle", n.circle(), n.slot(), "stamp", n.stamp(), "hand", d.hand, "now", d.now)
	for _, r := range d.rings {
		for s := range r.slots {
			for j := range r.slots[s].chain.len() {
				if e := r.slots[s].at(j); e.node == i {
					fmt.Println("  in ring", r.circle, "slot", s, *e, d.circle[r.circle] == r, "finer", r.slots[s].finer != nil, "run", r.slots[s].run.len(), "len", r.slots[s].chain.len())
				}
			}
			if r.slots[s].run != nil {
				for j, x := range r.slots[s].run.items {
					if x.node == i {
						fmt.Println("  in run of ring", r.circle, "slot", s, x, j, r.slots[s].run.at)
					}
				}
			}
		}
	}
	for k, r := range d.runs {
		if r == nil {
			continue
		}
		for j, x := range r.items {
			if x.node == i {
				fmt.Println("  in run", k, x, j, r.at)
			}
		}
	}
	for j, x := range d.passed {
		if x.node == i {
			fmt.Println("  passed", x, j)
		}
	}
}
