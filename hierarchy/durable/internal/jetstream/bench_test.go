package jetstream_test

import (
	"fmt"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
)

// BenchmarkAppend appends messages of n bytes, one after the other, each synced.
func BenchmarkAppend(b *testing.B) {
	nc := jetstream.Connect(b)
	for _, n := range []int{200, 60000} {
		b.Run(fmt.Sprintf("impl=stream/n=%d", n), func(b *testing.B) {
			set, err := jetstream.Open(b.Context(), jetstream.Config{Conn: nc, Name: fmt.Sprintf("n%d-%d", n, b.N), Partitions: 1})
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
