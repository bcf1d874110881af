package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// taking returns a process whose attempts begin in a test.
func (w *world) taking() (p *process, announced chan core.Firing) {
	p, announced = w.process(), make(chan core.Firing, 100)
	p.announce = func(f core.Firing) error { announced <- f; return nil }
	w.NoError(p.open(w.t.Context()))
	return p, announced
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
