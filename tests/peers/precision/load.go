package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// load is other work that the process does while timers are measured.
type load struct {
	name  string
	start func() (stop func())
}

var loads = []load{
	{"idle", func() func() { return func() {} }},
	{"busy, yielding every 5 µs", yielding},
	{"busy, never yielding", greedy},
}

const workPerYield = 5 * time.Microsecond

// yielding keeps two goroutines per core busy. They yield often.
func yielding() (stop func()) {
	return busy(2*runtime.GOMAXPROCS(0), func(done *atomic.Bool) {
		for !done.Load() {
			for start := time.Now(); time.Since(start) < workPerYield; {
			}
			runtime.Gosched()
		}
	})
}

// greedy keeps one goroutine per core in a loop that only the preemption of the runtime
// interrupts.
func greedy() (stop func()) {
	return busy(runtime.GOMAXPROCS(0), func(done *atomic.Bool) {
		for !done.Load() {
		}
	})
}

// busy runs work in the given number of goroutines. The function it returns stops them and
// waits until they have ended.
func busy(goroutines int, work func(done *atomic.Bool)) (stop func()) {
	var done atomic.Bool
	var workers sync.WaitGroup
	for range goroutines {
		workers.Go(func() { work(&done) })
	}
	return func() {
		done.Store(true)
		workers.Wait()
	}
}
