//go:build unix

package cluster

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// These benchmarks have three processes share partitions whose logs and table are in memory. So what
// they take is what sharing itself takes. A fourth process joins, and leaves again.

// benchLease is so long that nothing waits for its end.
const benchLease = time.Minute

// BenchmarkShare measures until the shares are even: three processes begin, a fourth one joins, and it
// leaves.
func BenchmarkShare(b *testing.B) {
	for _, n := range []int{8, 64, 1024} {
		b.Run(fmt.Sprintf("impl=memory/n=%d", n), func(b *testing.B) { benchShares(b, n, 0) })
	}
	for _, n := range []int{8, 64, 1024} {
		b.Run(fmt.Sprintf("impl=paced/n=%d", n), func(b *testing.B) { benchShares(b, n, time.Millisecond) })
	}
}

func benchShares(b *testing.B, n int, pace time.Duration) {
	took := make(map[string]spent)
	for range b.N {
		benchShare(b, n, &disk{pace: pace}, took)
	}
	for what, s := range took {
		b.ReportMetric(s.time.Seconds()*1e3/float64(b.N), what+"-ms")
		b.ReportMetric(s.cpu.Seconds()*1e3/float64(b.N), what+"-cpu-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// disk has a table do one write after the other, each of which takes a while, as servers do. So the news
// come one at a time.
type disk struct {
	mu   sync.Mutex
	free time.Time // after the last write
	pace time.Duration
}

func (d *disk) fault(c memtable.Call) memtable.Fault {
	if c.Op != "put" || d.pace == 0 {
		return memtable.Fault{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(d.pace)
	return memtable.Fault{Before: d.free.Sub(now)}
}

// spent is time on the clock and on processors.
type spent struct{ time, cpu time.Duration }

func benchShare(b *testing.B, n int, d *disk, took map[string]spent) {
	w := newWorldOf(b, n)
	all := []*process{w.process(), w.process(), w.process(), w.process()}
	for _, p := range all {
		p.lease = benchLease
		p.store.SetFault(d.fault)
	}
	measure := func(what string, sharers []*process, do func()) {
		begun, used := time.Now(), cpu(b)
		do()
		for !shareEvenly(n, sharers) {
			if time.Sleep(time.Millisecond); time.Since(begun) > patience {
				b.Fatal(what + " does not end")
			}
		}
		s := took[what]
		took[what] = spent{s.time + time.Since(begun), s.cpu + cpu(b) - used}
	}
	first, last := all[:3], all[3]
	measure("open", first, func() {
		var wg sync.WaitGroup
		for _, p := range first {
			wg.Go(func() { w.NoError(p.open(b.Context())) })
		}
		wg.Wait()
	})
	measure("join", all, func() { w.NoError(last.open(b.Context())) })
	measure("leave", first, func() { w.NoError(last.Shutdown(b.Context())) })
	for _, p := range all {
		p.close()
	}
}

// shareEvenly reports whether each of the processes owns its share of n partitions.
func shareEvenly(n int, all []*process) bool {
	sum := 0
	for _, p := range all {
		owned := p.owns()
		sum += owned
		if owned < n/len(all) || owned > (n-1)/len(all)+1 {
			return false
		}
	}
	return sum == n
}

// cpu is the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
