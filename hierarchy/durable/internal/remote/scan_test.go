package remote

import (
	"fmt"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A scan brings all timers, in several pages, also beyond records that it does not want.
func TestScan(t *testing.T) {
	b := newBench(t)
	o, c := b.own(), b.client()
	const n = 20_000
	for i := 0; i < n; i += 1000 {
		var ops []core.Op
		for j := range 1000 {
			ops = append(ops, setOp(fmt.Sprint(i+j), "some value"))
		}
		b.do(c, ops...)
	}
	seen := make(map[string]int)
	b.NoError(c.Scan(t.Context(), 0, false, func(t state.Timer) bool {
		seen[t.Key]++
		return true
	}))
	b.Len(seen, n)
	b.Equal(n, total(seen))
	b.NoError(c.Scan(t.Context(), 0, true, func(state.Timer) bool { t.Error("none is dead"); return true }))
	clear(seen)
	next := b.disk.Open()
	b.NoError(c.Scan(t.Context(), 0, false, func(t state.Timer) bool {
		if seen[t.Key]++; len(seen) == n/2 && next != nil { // another owner: all comes again
			next = nil
			o.shut()
			b.own()
		}
		return true
	}))
	b.Len(seen, n)
	b.Greater(total(seen), n)
	stopped := 0
	b.NoError(c.Scan(t.Context(), 0, false, func(state.Timer) bool { stopped++; return stopped < 3 }))
	b.Equal(3, stopped)
}

func total(seen map[string]int) (n int) {
	for _, times := range seen {
		n += times
	}
	return n
}
