package main

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// The benchmarks of lives compare a hierarchy.Driven with what others expire their entries
// with: NATS's stores, etcd's leases and otter's caches.

// expirer is such a thing with entries 0, 1, 2 and so on.
type expirer interface {
	set(i int, at int64)
	update(i int, from, to int64)
	// settle does what set and update have put off.
	settle()
	// expire expires what is due and returns how many entries that were.
	expire(now int64) (entries int)
}

// lifeStart is when lives begin, in nanoseconds since the Unix epoch.
const lifeStart = 1_800_000_000 * int64(time.Second)

// lifeSpan is the time within which most lives end.
const lifeSpan = int64(time.Hour)

// lives are the deadlines of entries and the order in which they are updated.
type lives struct {
	first, second []int64
	order         []uint32
}

// livesAnywhere are due at any time in an hour, first and second. They are updated in random
// order.
func livesAnywhere(n int) lives { return livesWithin(lifeSpan, n) }

// livesInADay are due at any time in a day.
func livesInADay(n int) lives { return livesWithin(24*lifeSpan, n) }

func livesWithin(span int64, n int) lives {
	r := rand.New(rand.NewPCG(1, 1))
	l := livesInOrder(n)
	for i := range n {
		l.first[i], l.second[i] = lifeStart+r.Int64N(span), lifeStart+r.Int64N(span)
	}
	r.Shuffle(n, func(i, j int) { l.order[i], l.order[j] = l.order[j], l.order[i] })
	return l
}

// livesInOrder are those of entries that are set one after the other in the course of an
// hour, and once more in the next, to be due an hour after that.
func livesInOrder(n int) lives {
	l := lives{first: make([]int64, n), second: make([]int64, n), order: make([]uint32, n)}
	for i := range n {
		l.first[i] = lifeStart + lifeSpan + int64(i)*lifeSpan/int64(n)
		l.second[i] = l.first[i] + lifeSpan
		l.order[i] = uint32(i)
	}
	return l
}

// lived is what the lives of n entries took.
type lived struct {
	set, update, expire time.Duration // of processor time
	bytes               float64       // in use by entries that are set
	allocated, allocs   float64
}

// live sets all entries, updates each once, and expires them in steps, or all at once if
// step is 0.
func (l lives) live(b *testing.B, open func() expirer, step time.Duration) (took lived) {
	e := open()
	before, start := inUse(), memory()
	took.set = cpuOf(b, func() {
		for i, at := range l.first {
			e.set(i, at)
		}
		e.settle()
	})
	took.bytes = inUse() - before
	took.update = cpuOf(b, func() {
		for _, i := range l.order {
			e.update(int(i), l.first[i], l.second[i])
		}
		e.settle()
	})
	took.expire = cpuOf(b, func() { l.expire(e, step, func(call func()) { call() }) })
	end := memory()
	took.allocated = float64(end.TotalAlloc - start.TotalAlloc)
	took.allocs = float64(end.Mallocs - start.Mallocs)
	runtime.KeepAlive(e)
	return took
}

// expire lets all expire in steps, or at once if step is 0. Each call of e is passed to do.
func (l lives) expire(e expirer, step time.Duration, do func(call func())) {
	if step == 0 {
		step = time.Duration(3 * lifeSpan) // after the last deadline
	}
	for now, left := lifeStart, len(l.first); left > 0; {
		now += int64(step)
		do(func() { left -= e.expire(now) })
	}
}

// longestCall returns how much processor time the longest call to expire takes. It asks for
// the time before and after each call, which takes too long for other measurements.
func (l lives) longestCall(b *testing.B, e expirer, step time.Duration) (longest time.Duration) {
	for i, at := range l.first {
		e.set(i, at)
	}
	for _, i := range l.order {
		e.update(int(i), l.first[i], l.second[i])
	}
	e.settle()
	l.expire(e, step, func(call func()) { longest = max(longest, cpuOf(b, call)) })
	return longest
}

func memory() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

func cpuOf(b *testing.B, f func()) time.Duration {
	start := cpuTime(b)
	f()
	return cpuTime(b) - start
}

// benchmarkLife reports what each of n entries took in all parts of its life.
func benchmarkLife(b *testing.B, l lives, step time.Duration, open func() expirer) {
	var took lived
	for b.Loop() {
		took = l.live(b, open, step)
	}
	each := func(all float64, unit string) { b.ReportMetric(all/float64(len(l.first)), unit) }
	each(float64(took.set), setTook)
	each(float64(took.update), updateTook)
	each(float64(took.expire), expireTook)
	each(float64(took.set+took.update+took.expire), lifeTook)
	each(took.bytes, bytesPerLife)
	each(took.allocated, allocated)
	each(took.allocs, allocs)
	b.ReportMetric(0, "ns/op")
}
