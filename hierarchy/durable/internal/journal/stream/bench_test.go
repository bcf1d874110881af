package stream_test

import (
	"fmt"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
)

// BenchmarkAppend appends messages of n bytes, one after the other, each synced.
func BenchmarkAppend(b *testing.B) {
	nc := stream.Connect(b)
	for _, n := range []int{200, 60000} {
		b.Run(fmt.Sprintf("impl=stream/n=%d", n), func(b *testing.B) {
			set, err := stream.Open(b.Context(), stream.Config{Conn: nc, Name: fmt.Sprintf("n%d-%d", n, b.N), Partitions: 1})
			if err != nil {
				b.Fatal(err)
			}
			data := make([]byte, n)
			b.SetBytes(int64(n))
			b.ResetTimer()
			for i := range b.N {
				if err := set.Logs[0].Append(b.Context(), uint64(i), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
