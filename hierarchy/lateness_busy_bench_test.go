//go:build unix

package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// busyFuncs are the implementations that BenchmarkBusy compares.
var busyFuncs = []struct {
	name string
	with func(b *testing.B) afterFunc
}{
	{"time", afterFuncs[0].with},
	{"wheel", onWheel(hierarchy.Config{})},
	{"system", onWheel(hierarchy.Config{Clock: clock.System()})},
}

// allocate keeps a processor busy, and the garbage collector with it.
func allocate(stop *atomic.Bool) {
	var kept [256][]byte
	for i := 0; !stop.Load(); i++ {
		kept[i%len(kept)] = make([]byte, 64+i%4096)
	}
}

// BenchmarkBusy sets one timer at a time, 1 to 5 ms ahead, in a process whose processors are all busy and allocate, and
// which has n other timers pending. One iteration is one timer of each implementation, one after the other, so that all
// of them meet the same load. Compare their medians within one run.
//
//	go test ./hierarchy -run '^$' -bench Busy -benchtime 400x
func BenchmarkBusy(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var after []afterFunc
			for _, impl := range busyFuncs {
				f := impl.with(b)
				after = append(after, f)
				for range n {
					stop := f(time.Hour+rand.N(time.Hour), func() {})
					defer stop()
				}
			}
			busyWith(allocate, func() { benchInTurn(b, after) })
		})
	}
}

// benchInTurn sets a timer with each of after, one at a time, and reports how late they were. Each is the first as often as
// the others, since what comes first after a pause of the loop meets another scheduler. The functions are made before:
// who allocates in such a process may wait for the garbage collector.
func benchInTurn(b *testing.B, after []afterFunc) {
	late := make([][]time.Duration, len(after))
	fired := make(chan time.Duration, 1)
	var due time.Time
	fire := func() { fired <- time.Since(due) }
	for turn := 0; b.Loop(); turn++ {
		d := time.Millisecond + rand.N(4*time.Millisecond)
		for i := range after {
			i = (i + turn) % len(after)
			due = time.Now().Add(d)
			after[i](d, fire)
			late[i] = append(late[i], <-fired)
		}
	}
	for i, of := range late {
		slices.Sort(of)
		for name, share := range map[string]float64{"p50-µs": 0.5, "p99-µs": 0.99} {
			b.ReportMetric(of[int(share*float64(len(of)-1))].Seconds()*1e6, busyFuncs[i].name+"-"+name)
		}
	}
}
