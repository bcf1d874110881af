//go:build unix

package durable_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// BenchmarkClusterPartitions measures what partitions cost that have no work: until the first worker
// is open, which makes the logs, until a second and a third one have their shares, and the CPU time of the
// three workers in ten seconds afterwards. The servers are processes of their own: three, or one.
func BenchmarkClusterPartitions(b *testing.B) {
	for _, n := range []int{8, 64, 256} {
		b.Run(fmt.Sprintf("impl=cluster/n=%d", n), func(b *testing.B) {
			urls, _ := benchServers(b)
			benchPartitions(b, urls, n)
		})
		b.Run(fmt.Sprintf("impl=one-server/n=%d", n), func(b *testing.B) {
			cfgs, err := servers.Cluster(1, func(int) string { return b.TempDir() })
			if err != nil {
				b.Fatal(err)
			}
			cfgs[0].Cluster = 0
			server, err := servers.Spawn(cfgs[0])
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(server.Kill)
			benchPartitions(b, server.URL(), n)
		})
	}
}

func benchPartitions(b *testing.B, urls string, n int) {
	for _, what := range []string{"first-ms", "second-ms", "third-ms"} {
		b.ReportMetric(benchOpenIdle(b, urls, n), what)
	}
	time.Sleep(3 * time.Second) // the marks are written, and the collector has things to finish
	begun := used(b)
	time.Sleep(10 * time.Second)
	b.ReportMetric((used(b)-begun).Seconds()*1000, "idle-cpu-ms/10s")
	b.ReportMetric(0, "ns/op")
}

// benchOpenIdle opens a worker that has nothing to do, and returns how many milliseconds Open took.
func benchOpenIdle(b *testing.B, url string, partitions int) float64 {
	nc := connect(b, url)
	begun := time.Now()
	w, err := durable.Open(b.Context(), durable.Config[string, string]{Conn: nc, Partitions: partitions,
		Handle: func(context.Context, firing) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	took := time.Since(begun)
	b.Cleanup(func() { w.Close() })
	return float64(took.Microseconds()) / 1000
}
