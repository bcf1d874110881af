package hierarchy_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// BenchmarkKeyedShards makes one or two goroutines set, move and remove keys of their own,
// on different numbers of shards.
func BenchmarkKeyedShards(b *testing.B) {
	const n = 300_000
	for _, shards := range []int{2, 4, 8, 16} {
		for _, by := range []int{1, 2} {
			run(b, fmt.Sprintf("epicycle/shards=%d/by=%d", shards, by), n, func(b *testing.B) {
				w, err := hierarchy.NewKeyed(hierarchy.Config{Shards: shards}, func(int, int) {})
				if err != nil {
					b.Fatal(err)
				}
				defer w.Stop()
				for i := range n {
					_ = w.Set(-1-i, i, spread())
				}
				b.ResetTimer()
				var all sync.WaitGroup
				for g := range by {
					all.Go(func() {
						for i := range b.N / by {
							k := g*1000 + i%1000
							_ = w.Set(k, i, 2*time.Hour)
							_, _ = w.Move(k, 3*time.Hour)
							w.Remove(k)
						}
					})
				}
				all.Wait()
			})
		}
	}
}
