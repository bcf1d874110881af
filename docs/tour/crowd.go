package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// handle is a timer that was set, a wheel's or package time's.
type handle interface{ Stop() bool }

// afterFunc sets a timer. The handle's type is a parameter, so that no interface
// value, with its allocation, stands between what is measured and the caller.
type afterFunc[H handle] func(time.Duration, func()) (H, error)

func byTime(d time.Duration, f func()) (*time.Timer, error) { return time.AfterFunc(d, f), nil }

// crowd is many timers, and what it took to have them.
type crowd[H handle] struct {
	after   afterFunc[H]
	timers  []H
	fired   atomic.Int64
	empty   int64         // bytes in use before the timers were set
	bytes   int64         // that they took
	left    int64         // bytes still in use when they were gone
	setting time.Duration // to set them all
	ending  time.Duration // to cancel them all
	ended   int           // how many could be cancelled
}

func newCrowd[H handle](n int, after afterFunc[H]) *crowd[H] {
	c := &crowd[H]{after: after, timers: make([]H, n)}
	clear(c.timers) // the system hands out memory when it is first written to
	c.empty = inUse()
	return c
}

// batch is how many calls are made between two looks at the clock.
const batch = 10_000

// set sets a timer for each delay.
func (c *crowd[H]) set(delays []time.Duration, p *progress) error {
	defer p.end()
	fire := func() { c.fired.Add(1) }
	for from := 0; from < len(delays); from += batch {
		to := min(from+batch, len(delays))
		start := time.Now()
		for i := from; i < to; i++ {
			var err error
			if c.timers[i], err = c.after(delays[i], fire); err != nil {
				return err
			}
		}
		c.setting += time.Since(start)
		p.at(to)
	}
	c.bytes = inUse() - c.empty
	return nil
}

// cancel stops all timers.
func (c *crowd[H]) cancel(p *progress) {
	defer p.end()
	for from := 0; from < len(c.timers); from += batch {
		to := min(from+batch, len(c.timers))
		start := time.Now()
		for i := from; i < to; i++ {
			if c.timers[i].Stop() {
				c.ended++
			}
		}
		c.ending += time.Since(start)
		p.at(to)
	}
	clear(c.timers) // a timer of package time stays for as long as somebody has it
	c.left = max(inUse()-c.empty, 0)
}

// settle waits, for some seconds at most, until all timers that were not cancelled
// have run, and tells whether that came out: none lost, none run twice.
func (c *crowd[H]) settle() bool {
	want := int64(len(c.timers) - c.ended)
	for range 5000 {
		if c.fired.Load() >= want {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return c.fired.Load() == want
}

// inUse is how many bytes of the heap are in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// anyDelay is a delay of any order of magnitude between two, the longer ones more
// often.
func anyDelay(shortest, longest time.Duration) time.Duration {
	share := max(rand.Float64(), rand.Float64(), rand.Float64())
	return time.Duration(float64(shortest) * math.Pow(float64(longest)/float64(shortest), share))
}

var _ = []handle{hierarchy.Timer{}, (*time.Timer)(nil)}
