package lane

import (
	"fmt"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// A timer waits in a queue and is taken, among many, with limits and without.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("op=push+pop/limits=%d", n), func(b *testing.B) {
			g := NewGate(nil)
			all := make(map[limits.Scope]limits.Limit)
			for i := range n {
				all[limits.Scope{Kind: limits.Prefix, Name: fmt.Sprintf("%d/", i)}] = limits.Limit{AtOnce: 10}
			}
			g.Set(all)
			q := NewQueues(g)
			for i := range 100_000 {
				q.Push("q", due(fmt.Sprintf("%d/%d", i%100, i), i))
			}
			key := make([]string, 100_000)
			for i := range key {
				key[i] = fmt.Sprintf("%d/x%d", i%100, i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				q.Push("q", due(key[i%len(key)], 200_000+i))
				_, pass, _ := q.Pop("q", "")
				pass.End()
			}
		})
	}
}
