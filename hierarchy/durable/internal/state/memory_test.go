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

// churn sets n timers, and removes them but for each keep-th.
func churn(t *testing.T, s *State, n, keep int) {
	h := frame.Header{Number: 1}
	value := make([]byte, 100)
	key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
	for i := range n {
		require.NoError(t, s.Apply(&h, &frame.Op{Kind: frame.Set, Key: key(i), Value: value, Due: int64(i) * 1e6}))
	}
	for i := range n {
		if i%keep != 0 {
			require.NoError(t, s.Apply(&h, &frame.Op{Kind: frame.Remove, Key: key(i)}))
		}
	}
}

// Memory goes back as timers go, and not only with the last one.
func TestMemoryGoesBack(t *testing.T) {
	const n = 200_000
	before := heap()
	s := New()
	s.Build()
	churn(t, s, n, n)
	require.Equal(t, 1, s.Len())
	more := heap() - before
	t.Logf("%d bytes for one timer of %d", more, n)
	require.Less(t, more, int64(1<<20))
	before = heap()
	few := New() // without its wheels, which have chunks of their own
	churn(t, few, n, 1000)
	more = heap() - before
	t.Logf("%d bytes for %d timers of %d", more, few.Len(), n)
	require.Less(t, more, int64(200*14<<10), "a chunk for each, at most")
	runtime.KeepAlive([]*State{s, few})
}

// While a cursor is open no number is used again, and the memory of timers that come and go goes back all the same.
func TestMemoryWithACursor(t *testing.T) {
	const n = 20_000
	before := heap()
	s := New()
	s.Build()
	churn(t, s, 10, 10)
	c := s.Cursor()
	for range 10 {
		churn(t, s, n, n)
	}
	more := heap() - before
	t.Logf("%d bytes while the cursor is open", more)
	require.Less(t, more, int64(2<<20))
	seen := 0
	for c.Take(7, func(Ref, Timer) { seen++ }) {
	}
	require.Equal(t, 1, seen, "key 0 has its record still")
	c.Close()
	churn(t, s, n, n)
	more = heap() - before
	t.Logf("%d bytes after it", more)
	require.Less(t, more, int64(2<<20))
	runtime.KeepAlive(s)
}

// Most timers take nothing for what they don't have.
func TestNoMemoryForWhatIsNotThere(t *testing.T) {
	s := New()
	h := &frame.Header{Number: 1}
	for i := range 100 {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: fmt.Append(nil, i)}))
	}
	require.Empty(t, s.extras)
	for i := range 100 {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Die, Key: fmt.Append(nil, i), Attempt: 1}))
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Revive, Key: fmt.Append(nil, i)}))
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: fmt.Append(nil, i), More: frame.More{Trace: []byte("t")}}))
	}
	require.Len(t, s.extras, 100)
	for i := range 100 {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Remove, Key: fmt.Append(nil, i)}))
	}
	require.Empty(t, s.extras)
	require.Zero(t, s.Bytes())
}
