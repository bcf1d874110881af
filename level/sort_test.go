package level

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// keysFor makes lists that are long enough to be dealt out.
var keysFor = map[string]func(r *rand.Rand, i int) int64{
	"random":            func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) },
	"near each other":   func(r *rand.Rand, _ int) int64 { return -5 + r.Int64N(10) },
	"of one bit":        func(r *rand.Rand, _ int) int64 { return math.MinInt64 * r.Int64N(2) },
	"equal":             func(*rand.Rand, int) int64 { return 7 },
	"descending":        func(_ *rand.Rand, i int) int64 { return -int64(i) * 1000 },
	"ascending but one": func(r *rand.Rand, i int) int64 { return int64(i) * (1 - 2*r.Int64N(2)*int64(i%997/996)) },
	"one far away": func(r *rand.Rand, i int) int64 {
		if i == 100 {
			return math.MaxInt64
		}
		return r.Int64N(1000)
	},
}

func TestSortLongLists(t *testing.T) {
	for name, key := range keysFor {
		for _, n := range []int{dealFrom - 1, dealFrom, dealFrom + 1, 3 * dealFrom, 40_000} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				w := &twin{t: t}
				for i := range n {
					w.push(5, key(r, i))
				}
				for range n / 10 {
					w.remove(5, r.IntN(len(w.want[5])))
				}
				w.sort(5)
				w.check()
			})
		}
	}
}

func BenchmarkSort(b *testing.B) {
	for _, n := range []int{256, 4096, 65536, 1_000_000} {
		b.Run(fmt.Sprintf("impl=epicycle/n=%d", n), func(b *testing.B) {
			var a Arena
			var l Level
			nodes := make([]uint32, n)
			for k := range nodes {
				nodes[k] = a.Alloc()
				a.At(nodes[k]).Init(0, uint64(k+1), 0, 0, 0, 0)
				l.Push(&a, nodes[k], a.At(nodes[k]))
			}
			r := rand.New(rand.NewPCG(1, 1))
			seq := uint64(n)
			for b.Loop() {
				b.StopTimer()
				for _, i := range nodes {
					seq++
					a.At(i).Rekey(r.Int64N(1<<30), seq)
				}
				l.unsorted = 1
				b.StartTimer()
				l.Sort(&a, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/timer")
		})
	}
}
