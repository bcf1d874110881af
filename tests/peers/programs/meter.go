package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// meter measures the time and the processor time of some work.
type meter struct {
	begun time.Time
	cpu   time.Duration
}

func newMeter() meter { return meter{time.Now(), cpuTime()} }

// stop notes what the work has taken.
func (m meter) stop(f *result, work int) {
	f.Took, f.CPU, f.Work = time.Since(m.begun), cpuTime()-m.cpu, work
}

// live returns the bytes of what is alive, with the stacks of goroutines, and how long a full collection takes.
func live() (bytes float64, gc time.Duration) {
	gc = time.Hour
	for range 3 { // the first may have to wait for another one, and pools are emptied by the second
		begun := time.Now()
		runtime.GC()
		gc = min(gc, time.Since(begun))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse), gc
}

// liveBytes is live for what there is before the things are made.
func liveBytes() float64 {
	bytes, _ := live()
	return bytes
}

// each notes the bytes of each of n things, and how long a full collection takes with them.
func (f *result) each(n int, before float64) {
	bytes, gc := live()
	f.N, f.Bytes, f.GC = n, (bytes-before)/float64(n), gc
}

// lateness collects how late things were. Each must happen once.
type lateness struct {
	all  []time.Duration
	n    atomic.Int64
	left sync.WaitGroup
}

func newLateness(n int) *lateness {
	l := &lateness{all: make([]time.Duration, n)}
	l.left.Add(n)
	return l
}

// add panics if it is called more often than things shall happen.
func (l *lateness) add(late time.Duration) {
	l.all[l.n.Add(1)-1] = late
	l.left.Done()
}

var (
	errMissing = errors.New("did not happen")
	errEarly   = errors.New("was early")
)

// wait waits until everything has happened, and notes by how much 99 % were late at most.
func (l *lateness) wait(ctx context.Context, f *result) error {
	done := make(chan struct{})
	go func() { l.left.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("%d of %d %w", len(l.all)-int(l.n.Load()), len(l.all), errMissing)
	}
	slices.Sort(l.all)
	if l.all[0] < 0 {
		return fmt.Errorf("one %w by %v", errEarly, -l.all[0])
	}
	f.Late = figures.Quantile(l.all, 0.99)
	return nil
}
