package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// taking returns a process whose attempts begin in a test.
func (w *world) taking() (p *process, announced chan core.Firing) {
	p, announced = w.process(), make(chan core.Firing, 100)
	p.announce = func(f core.Firing) error { announced <- f; return nil }
	w.NoError(p.open(w.t.Context()))
	return p, announced
}

// HandOver gives all partitions to others, whatever attempts with tokens are in progress. These go on, and are ended from
// anywhere, also by the process that has begun them. Its calls still work.
func TestHandOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, announced := w.taking()
	var taken []partition.Taken
	for at := range partitions {
		a.set(fmt.Sprint("key", at), "v", 0)
		f := <-announced
		one, ok := a.owned[f.Partition].Load().Begin([]byte(f.Key), f.ID)
		w.True(ok)
		taken = append(taken, one)
	}
	end := func(p *process, i int) bool {
		name, number := taken[i].Token(time.Hour)
		call := &core.Call{Ops: []core.Op{
			{Kind: frame.End, Key: []byte(taken[i].Key), Ending: core.End(name, number, nil)},
		}}
		w.NoError(p.Do(t.Context(), of(taken[i].Key), call))
		return call.Took[0]
	}
	for i := range taken {
		taken[i].Token(time.Hour)
	}
	b, _ := w.taking()
	w.eventually("they share", func() bool { return a.owns() == 2 && b.owns() == 2 })
	w.True(end(b, 0), "wherever it is")
	a.HandOver(t.Context())
	w.Zero(a.owns())
	w.eventually("the other one has all", func() bool { return b.owns() == partitions })
	a.set("other1", "v", time.Hour)
	w.True(end(a, 1))
	w.True(end(b, 2))
	w.NoError(a.Shutdown(t.Context()))
	w.True(end(b, 3))
	for i := range taken {
		w.False(end(b, i))
	}
	w.Equal(map[string]string{"other1": "v"}, b.keys())
}

// Partitions without attempts in progress, or with tokens only, are handed over while another one waits for its attempt.
func TestHandOverOnePartitionAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, announced := w.taking()
	for at := range 2 {
		a.set(fmt.Sprint("key", at), "v", 0)
	}
	var slow partition.Taken
	for range 2 {
		f := <-announced
		one, ok := a.owned[f.Partition].Load().Begin([]byte(f.Key), f.ID)
		w.True(ok)
		if of(f.Key) == 0 {
			slow = one
		} else {
			one.Token(time.Hour)
		}
	}
	b := w.process()
	b.lease = steady
	w.NoError(b.open(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shut sync.WaitGroup
	shut.Go(func() { w.NoError(a.Shutdown(ctx)) })
	w.eventually("the others are handed over", func() bool { return b.owns() == partitions-1 })
	_, err := slow.End(t.Context(), nil)
	w.NoError(err)
	shut.Wait()
	w.eventually("all", func() bool { return b.owns() == partitions })
}

// Without others, HandOver returns at once, and timers still fire.
func TestHandOverAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.open()
	a.HandOver(t.Context())
	w.Equal(partitions, a.owns())
	a.set("key1", "v", 0)
	w.eventually("it fires", func() bool { return len(w.firings("key1")) == 1 })
	w.NoError(a.Shutdown(t.Context()))
}
