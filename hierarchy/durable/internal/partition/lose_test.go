package partition

import (
	"sync/atomic"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Nobody looks at a call any more that has ended with ErrNotOwner: its caller asks another owner with it.
func TestCallWithoutTenureIsForgotten(t *testing.T) {
	b := newBench(t)
	held := new(atomic.Bool)
	held.Store(true)
	b.cfg.Tenure = held.Load
	b.open()
	held.Store(false)
	c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("a")}}}
	started := b.begun(c)
	w := writer{shared: b.p.shared, batch: batch{calls: []*Pending{started}}}
	w.checkTenure()
	b.Empty(w.batch.calls)
	b.ErrorIs(started.Wait(t.Context()), ErrNotOwner)
	held.Store(true)
}
