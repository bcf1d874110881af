package remote

import (
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// A call that has waited for the owner's clock comes late into the queue, behind younger ones. It is given up in time.
func TestOldCallsBehindYoungerOnes(t *testing.T) {
	b := newBench(t)
	b.own()
	c, net := b.far()
	c.quiet = time.Hour // no copies
	release := net.hold(false)
	errs := make(chan error)
	for i := range maxFlying + 1 {
		go func() { _, err := c.try(t.Context(), setOp(fmt.Sprint(i), "")); errs <- err }()
	}
	b.Eventually(func() bool { return c.lanes[0].queued() == 1 }, time.Minute, time.Millisecond)
	begun, old := c.Now(), make(chan error, 1)
	begun.real = begun.real.Add(-c.cfg.GiveUp)
	go func() { old <- c.Do(t.Context(), 0, &core.Call{Ops: []core.Op{setOp("old", "")}}, begun) }()
	b.Eventually(func() bool { return len(old) == 1 }, c.cfg.GiveUp/2, time.Millisecond)
	b.ErrorIs(<-old, partition.ErrUnavailable)
	b.Equal(1, c.lanes[0].queued())
	release()
	for range maxFlying + 1 {
		b.NoError(<-errs)
	}
}
