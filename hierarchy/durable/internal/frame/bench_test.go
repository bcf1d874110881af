package frame

import (
	"fmt"
	"testing"
)

// BenchmarkFrame builds and reads frames of operations with keys of 16 and values of 100 bytes.
func BenchmarkFrame(b *testing.B) {
	op := Op{Kind: Set, Due: header.Time + 1e9, Key: make([]byte, 16), Value: make([]byte, 100)}
	for _, n := range []int{1, 500} {
		ops := make([]Op, n)
		for i := range ops {
			ops[i] = op
		}
		var w Builder
		made := build(&w, header, ops)
		b.Run(fmt.Sprintf("impl=build/n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(made)))
			for range b.N {
				build(&w, header, ops)
			}
		})
		b.Run(fmt.Sprintf("impl=read/n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(made)))
			for range b.N {
				f, err := Parse(made)
				if err != nil {
					b.Fatal(err)
				}
				for op := range f.Ops() {
					_ = op
				}
			}
		})
	}
}
