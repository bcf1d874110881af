package remote

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Calls that are under way when a Client ends get their answers, and further ones are refused.
func TestFinish(t *testing.T) {
	b := newBench(t)
	b.own()
	c, net := b.far()
	c.quiet = time.Hour // no copies
	release := net.hold(true)
	const n = maxFlying + 2 // some are in no message yet
	errs := make(chan error, n)
	for i := range n {
		go func() { _, err := c.try(t.Context(), setOp(fmt.Sprint(i), "")); errs <- err }()
	}
	b.Eventually(func() bool { return net.Messages.Load() == maxFlying && c.lanes[0].queued() == 2 }, time.Minute, time.Millisecond)
	finished := make(chan bool)
	go func() { c.Finish(t.Context()); close(finished) }()
	b.Eventually(c.ending.Load, time.Minute, time.Millisecond)
	_, err := c.try(t.Context(), moveOp("0", time.Hour))
	b.ErrorIs(err, hierarchy.ErrClosed)
	select {
	case <-finished:
		t.Fatal("it did not wait")
	default:
	}
	release()
	<-finished
	c.Close()
	for range n {
		b.NoError(<-errs)
	}
}

// Finish ends with its context. What is under way then may have been committed.
func TestFinishEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	b.own()
	c, net := b.far()
	net.setFate(func(bool) time.Duration { return lost })
	errs := make(chan error)
	go func() { _, err := c.try(t.Context(), setOp("a", "")); errs <- err }()
	b.Eventually(func() bool { return net.Messages.Load() > 0 }, time.Minute, time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	c.Finish(ctx)
	c.Close()
	b.ErrorIs(<-errs, partition.ErrUnavailable)
}

// A call that has come so far that it is put into its lane when Finish begins is not waited for, so it is
// not sent.
func TestFinishWhileACallBegins(t *testing.T) {
	b := newBench(t)
	b.own()
	c, net := b.far()
	sent := net.Messages.Load()
	a := c.newRequest(&core.Call{Ops: []core.Op{setOp("a", "")}}, c.Now())
	c.Finish(t.Context())
	b.ErrorIs(c.lanes[0].put(a), hierarchy.ErrClosed)
	b.Equal(sent, net.Messages.Load())
}
