package durable_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// These benchmarks have three servers in processes of their own, which sync before each answer, and
// three replicas. The workers are in the process of the benchmark, each with a connection of its own.

const benchLease = 2 * time.Second

// benchServers starts three servers, and returns how to connect to them.
func benchServers(b *testing.B) (urls string, all []*servers.Process) {
	dir := b.TempDir()
	cfgs, err := servers.Cluster(3, func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) })
	if err != nil {
		b.Fatal(err)
	}
	if all, err = servers.SpawnAll(cfgs); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, p := range all {
			p.Kill()
		}
	})
	for _, cfg := range cfgs {
		urls += cfg.URL() + ","
	}
	return urls, all
}

// benchWorker is one of the processes that share the timers, as far as the servers can tell.
type benchWorker struct {
	*strs
	nc *nats.Conn
}

func benchOpenShared(b *testing.B, urls string, partitions int, handle func(context.Context, firing) error) benchWorker {
	if handle == nil {
		handle = func(context.Context, firing) error { return nil }
	}
	nc := connect(b, urls)
	w, err := durable.Open(b.Context(), durable.Config[string, string]{
		Conn: nc, Partitions: partitions, Lease: benchLease, Handle: handle})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return benchWorker{w, nc}
}

// BenchmarkClusterSet has callers set timers by two workers, half of them by each. Half of the timers
// of each are the other's.
func BenchmarkClusterSet(b *testing.B) {
	for _, partitions := range []int{2, 4, 8} {
		for _, callers := range []int{2, 256} {
			b.Run(fmt.Sprintf("impl=cluster-p%d/n=%d", partitions, callers), func(b *testing.B) {
				urls, _ := benchServers(b)
				both := []benchWorker{benchOpenShared(b, urls, partitions, nil), benchOpenShared(b, urls, partitions, nil)}
				begun := time.Now()
				took := benchSet(b, callers, func(caller int) *strs { return both[caller%2].strs })
				b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "sets/s")
				frames := both[0].Stats().Frames + both[1].Stats().Frames
				b.ReportMetric(float64(frames)/time.Since(begun).Seconds(), "frames/s")
				report(b, "", took)
			})
		}
	}
}

// rain has timers fall due at a steady rate, and notes how late they are.
type rain struct {
	mu    sync.Mutex
	fired map[string]time.Time
	drops map[string]time.Time
}

// handle notes a firing, if it is the first of its timer.
func (r *rain) handle(_ context.Context, f firing) error {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, again := r.fired[f.Key]; !again {
		r.fired[f.Key] = now
	}
	return nil
}

// pour sets timers that fall due from start on, so many a second.
func (r *rain) pour(b *testing.B, w benchWorker, rate int, start time.Time, d time.Duration) {
	r.fired, r.drops = make(map[string]time.Time), make(map[string]time.Time)
	var batch durable.Batch[string, string]
	n := int(d.Seconds() * float64(rate))
	for i := range n {
		key, due := fmt.Sprint("drop", i), start.Add(time.Duration(i)*time.Second/time.Duration(rate))
		r.drops[key] = due
		batch.SetAt(key, value100, due)
		if batch.Len() == 2000 || i == n-1 {
			if err := w.Batch(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
			batch.Reset()
		}
	}
	if time.Now().After(start) {
		b.Fatal("the timers were due before they were set")
	}
}

// await waits until all have fired.
func (r *rain) await(b *testing.B) {
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		n := len(r.fired)
		r.mu.Unlock()
		if n == len(r.drops) {
			return
		}
		if time.Since(begun) > time.Minute {
			b.Fatalf("%d of %d have fired", n, len(r.drops))
		}
	}
}

// late is how late those were that fell due from one time to another.
func (r *rain) late(from, to time.Time) (all []time.Duration) {
	for key, due := range r.drops {
		if !due.Before(from) && due.Before(to) {
			all = append(all, r.fired[key].Sub(due))
		}
	}
	return all
}

// longest is for how long nothing was fired that was due at a time, or soon after.
func (r *rain) longest(b *testing.B, from time.Time, what string) {
	b.ReportMetric(float64(slices.Max(r.late(from, from.Add(time.Minute))).Microseconds())/1e3, what)
}

// BenchmarkClusterFire has n timers fall due within each second, shared by two workers.
func BenchmarkClusterFire(b *testing.B) {
	const n = 5000
	for _, partitions := range []int{2, 8} {
		b.Run(fmt.Sprintf("impl=cluster-p%d/n=%d", partitions, n), func(b *testing.B) {
			urls, _ := benchServers(b)
			r := new(rain)
			w := benchOpenShared(b, urls, partitions, r.handle)
			benchOpenShared(b, urls, partitions, r.handle)
			start := time.Now().Add(3 * time.Second)
			r.pour(b, w, n, start, 5*time.Second)
			b.ResetTimer()
			r.await(b)
			report(b, "late-", r.late(start, start.Add(time.Minute)))
		})
	}
}
