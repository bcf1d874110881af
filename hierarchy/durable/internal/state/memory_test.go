package state

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A timer takes at most 150 bytes beside its key and value.
func TestMemory(t *testing.T) {
	const n = 300_000
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
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
	each := (heap() - before - data) / n
	t.Logf("%d bytes for each timer", each)
	require.LessOrEqual(t, each, int64(150))
	require.Equal(t, n, s.Len())
}
