package durable_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// fault has two workers fire 1,000 timers a second, and something happen in the middle of it. It
// reports the longest lateness of the timers that were due after it.
func fault(b *testing.B, pending int, what string, happen func(urls string, all []*servers.Process, a, c benchWorker, r *rain)) {
	const rate = 1000
	urls, all := benchServers(b)
	r := new(rain)
	a := benchOpenShared(b, urls, 8, r.handle)
	fill(b, a.strs, 0, pending)
	c := benchOpenShared(b, urls, 8, r.handle)
	start := time.Now().Add(2 * time.Second)
	r.pour(b, a, rate, start, 6*time.Second)
	time.Sleep(time.Until(start.Add(2 * time.Second)))
	begun := time.Now()
	happen(urls, all, a, c, r)
	r.await(b)
	report(b, "before-", r.late(start, begun.Add(-100*time.Millisecond)))
	r.longest(b, begun, what)
}

// BenchmarkClusterShutdown ends one of two workers in order.
func BenchmarkClusterShutdown(b *testing.B) {
	for range b.N {
		fault(b, 0, "gap-ms", func(_ string, _ []*servers.Process, _, c benchWorker, _ *rain) {
			begun := time.Now()
			if err := c.Shutdown(b.Context()); err != nil {
				b.Error(err)
			}
			b.ReportMetric(float64(time.Since(begun).Milliseconds()), "shutdown-ms")
		})
	}
}

// BenchmarkClusterKill has one of two workers lose its connection for good, without a goodbye.
func BenchmarkClusterKill(b *testing.B) {
	for range b.N {
		fault(b, 0, "back-ms", func(_ string, _ []*servers.Process, _, c benchWorker, _ *rain) { c.nc.Close() })
	}
}

// BenchmarkClusterServer kills the server that leads the log of partition 0.
func BenchmarkClusterServer(b *testing.B) {
	for range b.N {
		fault(b, 0, "back-ms", func(_ string, all []*servers.Process, a, _ benchWorker, _ *rain) {
			leader, leads := leaderOf(b, a.nc)
			b.ReportMetric(float64(leads), "logs-led")
			for _, p := range all {
				if p.Name == leader {
					p.Kill()
				}
			}
		})
	}
}

// leaderOf is the server that leads the log of partition 0, and how many logs it leads.
func leaderOf(b *testing.B, nc *nats.Conn) (leader string, leads int) {
	for at := range 8 {
		name, err := servers.Leader(b.Context(), nc, "timers", at)
		if err != nil {
			b.Fatal(err)
		}
		if at == 0 {
			leader = name
		}
		if name == leader {
			leads++
		}
	}
	return leader, leads
}

// BenchmarkClusterJoin has a third worker join two that have n timers pending, and get its share.
func BenchmarkClusterJoin(b *testing.B) {
	for _, n := range []int{10_000, 400_000} {
		b.Run(fmt.Sprintf("impl=cluster-p8/n=%d", n), func(b *testing.B) {
			for range b.N {
				fault(b, n, "gap-ms", func(urls string, _ []*servers.Process, _, _ benchWorker, r *rain) {
					begun := time.Now()
					c := benchOpenShared(b, urls, 8, r.handle)
					b.ReportMetric(float64(time.Since(begun).Milliseconds()), "open-ms")
					for c.Stats().Owned == 0 && time.Since(begun) < time.Minute {
						time.Sleep(time.Millisecond)
					}
					b.ReportMetric(float64(time.Since(begun).Milliseconds()), "share-ms")
				})
			}
		})
	}
}
