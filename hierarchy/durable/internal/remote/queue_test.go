package remote

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// What is put back does not come before calls that have begun earlier, which would be given up too late.
func TestQueueIsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 100 {
		var q queue
		var taken []*request
		begun := time.Now()
		for range 100 {
			switch r.IntN(4) {
			case 0, 1:
				q.push(&request{begun: Moment{real: begun.Add(time.Duration(r.IntN(50)))}})
			case 2:
				for range min(r.IntN(4), len(q.all())) {
					taken = append(taken, q.first)
					q.remove(q.first)
				}
			case 3:
				for _, a := range slices.Backward(taken) {
					q.putBack(a)
				}
				taken = nil
			}
			require.True(t, slices.IsSortedFunc(q.all(), func(a, b *request) int { return a.begun.real.Compare(b.begun.real) }))
		}
	}
}

// all returns the calls in their order, which is the same from behind.
func (q *queue) all() (all []*request) {
	for a := q.first; a != nil; a = a.next {
		all = append(all, a)
	}
	last := q.last
	for _, a := range slices.Backward(all) {
		if a != last {
			panic("remote: a queue is not the same from behind")
		}
		last = a.prev
	}
	return all
}
