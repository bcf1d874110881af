package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// handle is a pending timer of a wheel or of package time.
type handle interface{ Stop() bool }

// afterFunc sets a timer. The handle's type is a parameter because an interface value would cost an allocation that
// would be measured, too.
type afterFunc[H handle] func(time.Duration, func()) (H, error)

func byTime(d time.Duration, f func()) (*time.Timer, error) { return time.AfterFunc(d, f), nil }

// crowd is a large number of timers and what they cost.
type crowd[H handle] struct {
	after   afterFunc[H]
	timers  []H
	fired   atomic.Int64
	empty   int64         // bytes in use before the timers were set
	bytes   int64         // bytes that the timers took
	left    int64         // bytes still in use when the timers were gone
	setting time.Duration // time to set them all
	ending  time.Duration // time to cancel them all
	ended   int           // number of timers that were cancelled
}

func newCrowd[H handle](n int, after afterFunc[H]) *crowd[H] {
	c := &crowd[H]{after: after, timers: make([]H, n)}
	clear(c.timers) // the system provides memory only when it is first written to
	c.empty = inUse()
	return c
}

// batch is the number of calls between two readings of the clock.
const batch = 10_000

// set sets a timer for each delay.
func (c *crowd[H]) set(delays []time.Duration, p *terminal.Progress) error {
	defer p.End()
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
		p.At(to)
	}
	c.bytes = inUse() - c.empty
	return nil
}

// cancel stops all timers.
func (c *crowd[H]) cancel(p *terminal.Progress) {
	defer p.End()
	for from := 0; from < len(c.timers); from += batch {
		to := min(from+batch, len(c.timers))
		start := time.Now()
		for i := from; i < to; i++ {
			if c.timers[i].Stop() {
				c.ended++
			}
		}
		c.ending += time.Since(start)
		p.At(to)
	}
	clear(c.timers) // a timer of package time stays as long as it is referenced
	c.left = max(inUse()-c.empty, 0)
}

// settle waits, for some seconds at most, until all timers that were not cancelled have run. It reports whether each of
// these timers ran exactly once.
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

// inUse returns the number of heap bytes in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// anyDelay returns a random delay of any order of magnitude between shortest and longest.
// Longer delays are more frequent.
func anyDelay(shortest, longest time.Duration) time.Duration {
	share := max(rand.Float64(), rand.Float64(), rand.Float64())
	return time.Duration(float64(shortest) * math.Pow(float64(longest)/float64(shortest), share))
}

var _ = []handle{hierarchy.Timer{}, (*time.Timer)(nil)}
