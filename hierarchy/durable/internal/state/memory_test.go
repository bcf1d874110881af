package state

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A timer takes at most 150 bytes beside its key and value, however many there are: the tables grow
// in parts, but all of them at about the same number.
func TestMemory(t *testing.T) {
	for _, n := range []int{75_000, 100_000, 110_000, 150_000, 200_000, 220_000, 300_000} {
		each := memory(t, n)
		t.Logf("%d timers: %d bytes for each", n, each)
		require.LessOrEqual(t, each, int64(150), n)
	}
}

// memory is how many bytes each of n timers takes beside its key and value.
func memory(t *testing.T, n int) int64 {
	before := heap()
	s := New()
	h := frame.Header{Number: 1}
	value := make([]byte, 100)
	data := int64(0)
	for i := range n {
		key := fmt.Appendf(nil, "key %d", i)
		data += int64(len(key) + len(value))
		require.NoError(t, s.Apply(&h, &frame.Op{Kind: frame.Set, Key: key, Value: value, Due: int64(i) * 1e6}))
	}
	s.Build()
	each := (heap() - before - data) / int64(n)
	require.Equal(t, n, s.Len())
	return each
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
