package partition

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// replaced is a log whose next answer is lost, as its owner stands still. Meanwhile another has taken it
// over, and trimmed it.
type replaced struct {
	storage.Log
	next  atomic.Bool
	other func()
}

func (r *replaced) Append(ctx context.Context, last uint64, data []byte) error {
	err := r.Log.Append(ctx, last, data)
	if err == nil && r.next.Swap(false) {
		r.other()
		return errors.New("no answer")
	}
	return err
}

// No error says of a call that may be committed that it is not, or it would be retried.
func TestCallWhoseFrameALaterOwnerHasTrimmed(t *testing.T) {
	b := newBench(t)
	log := &replaced{Log: b.disk.Open()}
	p, err := Open(t.Context(), b.cfg.with(log))
	b.NoError(err)
	log.other = func() {
		b.open()
		b.Equal("1", b.keys(false)["a"])
		b.remove("a")
		b.NoError(b.log.Trim(t.Context(), b.head().Number))
	}
	log.next.Store(true)
	err = p.Do(t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a"), Value: []byte("1")}}})
	b.ErrorIs(err, ErrUnavailable)
	b.NotErrorIs(err, ErrNotOwner)
	<-p.Stopped()
	p.Abandon()
}

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
