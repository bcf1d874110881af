package hierarchy_test

import (
	pq "container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// drivenSpread is the time over which the timers of these benchmarks are due.
const drivenSpread = int64(time.Hour)

// heapTimer and heapQueue are what people write instead: a heap whose timers know where
// they are.
type heapTimer struct {
	due   time.Duration
	order uint64
	at    int
}

type heapQueue []*heapTimer

func (q heapQueue) Len() int { return len(q) }
func (q heapQueue) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].order < q[j].order
}
func (q heapQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}
func (q *heapQueue) Push(x any) {
	t := x.(*heapTimer)
	t.at = len(*q)
	*q = append(*q, t)
}
func (q *heapQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}

// randomDues are deadlines for a benchmark to take in turn, so that it does not measure the
// making of random numbers.
func randomDues(spread int64) (dues [1 << 16]time.Duration) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range dues {
		dues[i] = time.Duration(r.Int64N(spread))
	}
	return dues
}

// BenchmarkDrivenSetRemove sets a timer anywhere among the pending ones, and removes it.
func BenchmarkDrivenSetRemove(b *testing.B) {
	dues := randomDues(drivenSpread)
	for _, n := range []int{0, 10_000, 1_000_000} {
		run(b, "driven", n, func(b *testing.B) {
			var d hierarchy.Driven[uint64]
			for i := range n {
				d.Set(uint64(i), time.Duration(rand.Int64N(drivenSpread)))
			}
			i := 0
			for b.Loop() {
				d.Remove(d.Set(1, dues[i&(len(dues)-1)]))
				i++
			}
		})
		run(b, "heap", n, func(b *testing.B) {
			var q heapQueue
			for i := range n {
				pq.Push(&q, &heapTimer{due: time.Duration(rand.Int64N(drivenSpread)), order: uint64(i)})
			}
			i := 0
			for b.Loop() {
				t := &heapTimer{due: dues[i&(len(dues)-1)], order: uint64(n + i)}
				pq.Push(&q, t)
				pq.Remove(&q, t.at)
				i++
			}
		})
		run(b, "wheel", n, func(b *testing.B) {
			w, _ := hierarchy.New(hierarchy.Config{Clock: clock.System()})
			defer w.Stop()
			for range n {
				_, _ = w.AfterFunc(time.Hour+time.Duration(rand.Int64N(drivenSpread)), nop)
			}
			i := 0
			for b.Loop() {
				t, _ := w.AfterFunc(time.Hour+dues[i&(len(dues)-1)], nop)
				t.Stop()
				i++
			}
		})
	}
}

// BenchmarkDrivenMixed removes a random one of the pending timers and sets another.
func BenchmarkDrivenMixed(b *testing.B) {
	const n = 1_000_000
	dues := randomDues(drivenSpread)
	run(b, "driven", n, func(b *testing.B) {
		var d hierarchy.Driven[uint64]
		handles := make([]hierarchy.Handle, n)
		for i := range handles {
			handles[i] = d.Set(uint64(i), time.Duration(rand.Int64N(drivenSpread)))
		}
		i := uint32(0)
		for b.Loop() {
			i = (i + 2_654_435_761) % n
			d.Remove(handles[i])
			handles[i] = d.Set(1, dues[int(i)&(len(dues)-1)])
		}
	})
	run(b, "heap", n, func(b *testing.B) {
		var q heapQueue
		all := make([]*heapTimer, n)
		for i := range all {
			all[i] = &heapTimer{due: time.Duration(rand.Int64N(drivenSpread)), order: uint64(i)}
			pq.Push(&q, all[i])
		}
		i := uint32(0)
		for b.Loop() {
			i = (i + 2_654_435_761) % n
			pq.Remove(&q, all[i].at)
			all[i] = &heapTimer{due: dues[int(i)&(len(dues)-1)]}
			pq.Push(&q, all[i])
		}
	})
}

// BenchmarkDrivenMove moves a random one of the pending timers, earlier or later. B/timer is what a timer takes
// when it was set, and B/moved when each has been moved once.
func BenchmarkDrivenMove(b *testing.B) {
	const n = 1_000_000
	dues := randomDues(drivenSpread)
	run(b, "driven", n, func(b *testing.B) {
		handles := make([]hierarchy.Handle, n)
		var d hierarchy.Driven[uint64]
		before := heap()
		for i := range handles {
			handles[i] = d.Set(uint64(i), time.Duration(rand.Int64N(drivenSpread)))
		}
		set := heap()
		for _, h := range handles {
			d.Move(h, time.Duration(rand.Int64N(drivenSpread)))
		}
		moved := heap()
		i := uint32(0)
		for b.Loop() {
			i = (i + 2_654_435_761) % n
			d.Move(handles[i], dues[int(i)&(len(dues)-1)])
		}
		b.ReportMetric(float64(set-before)/n, "B/timer")
		b.ReportMetric(float64(moved-before)/n, "B/moved")
	})
}

// BenchmarkDrivenExpire lets a million timers expire: all due at one instant, or at random
// within a second. step-max is the longest time from one timer to the next, but for the
// first.
func BenchmarkDrivenExpire(b *testing.B) {
	const n = 1_000_000
	for _, due := range []struct {
		name   string
		within int64
	}{{"instant", 1}, {"second", int64(time.Second)}, {"hour", int64(time.Hour)}} {
		b.Run("due="+due.name, func(b *testing.B) {
			run(b, "driven", n, func(b *testing.B) { expireDriven(b, n, due.within) })
			run(b, "heap", n, func(b *testing.B) { expireHeap(b, n, due.within) })
		})
	}
}

func expireDriven(b *testing.B, n int, within int64) {
	var longest, all time.Duration
	for b.Loop() {
		b.StopTimer()
		var d hierarchy.Driven[uint64]
		for i := range n {
			d.Set(uint64(i), time.Minute+time.Duration(rand.Int64N(within)))
		}
		b.StartTimer()
		begin := time.Now()
		for range d.Expire(2 * time.Hour) {
		}
		all += time.Since(begin)
		b.StopTimer()
		for i := range n {
			d.Set(uint64(i), 3*time.Hour+time.Duration(rand.Int64N(within)))
		}
		var last time.Time
		for range d.Expire(5 * time.Hour) {
			now := time.Now()
			if !last.IsZero() {
				longest = max(longest, now.Sub(last))
			}
			last = now
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(all.Nanoseconds())/float64(b.N)/float64(n), "ns/timer")
	b.ReportMetric(float64(longest.Microseconds()), "step-max-µs")
}

func expireHeap(b *testing.B, n int, within int64) {
	for b.Loop() {
		b.StopTimer()
		var q heapQueue
		for i := range n {
			pq.Push(&q, &heapTimer{due: time.Minute + time.Duration(rand.Int64N(within)), order: uint64(i)})
		}
		b.StartTimer()
		for len(q) > 0 {
			pq.Pop(&q)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/timer")
}

// BenchmarkDrivenNext asks for the next deadline while timers of a crowd that is far away
// come and go, its earliest one each time.
func BenchmarkDrivenNext(b *testing.B) {
	const n = 1_000_000
	run(b, "driven", n, func(b *testing.B) {
		var d hierarchy.Driven[uint64]
		handles := map[time.Duration]hierarchy.Handle{}
		for i := range n {
			due := time.Hour + time.Duration(rand.Int64N(int64(time.Minute)))
			handles[due] = d.Set(uint64(i), due)
		}
		d.Next()
		for b.Loop() {
			due, _ := d.Next()
			d.Move(handles[due], due+time.Minute)
			handles[due+time.Minute] = handles[due]
		}
	})
}

// BenchmarkDrivenSessions is an event loop of sessions that are all overdue: each turn, a random one
// is set again, and so is the earliest one, and Next is asked for after each. B/timer is the most.
func BenchmarkDrivenSessions(b *testing.B) {
	const n, turns, parts = 2000, 1_000_000, 20
	dues := randomDues(int64(time.Second))
	run(b, "driven", n, func(b *testing.B) {
		bytes := int64(0)
		for b.Loop() {
			before := heap()
			var d hierarchy.Driven[uint64]
			for range d.Expire(time.Hour) {
			}
			d.Set(0, 1)
			nearest := d.Set(0, 0)
			handles := make([]hierarchy.Handle, n)
			for i := range handles {
				handles[i] = d.Set(uint64(i), 1+dues[i])
			}
			for i := range turns {
				due := 1 + dues[rand.IntN(len(dues))]
				d.Move(handles[rand.IntN(n)], due)
				d.Move(nearest, 0)
				d.Next()
				d.Move(nearest, due)
				d.Next()
				if i%(turns/parts) == 0 {
					bytes = max(bytes, heap()-before)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/turn")
		b.ReportMetric(float64(bytes)/n, "B/timer")
	})
}
