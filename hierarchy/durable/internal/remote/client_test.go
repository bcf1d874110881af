package remote

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// All operations of another process are answered as those of the owner's own.
func TestOperationsOfAnotherProcess(t *testing.T) {
	b := newBench(t)
	o, c := b.own(), b.client()
	b.True(b.do(c, setOp("a", "1")).Took[0])
	b.False(b.do(c, moveOp("none", 0)).Took[0])
	b.True(b.do(c, moveOp("a", 2*time.Hour)).Took[0])
	_, left, ok, err := c.Get(t.Context(), 0, []byte("a"))
	b.NoError(err)
	b.True(ok)
	b.Greater(left, time.Hour)
	b.LessOrEqual(left, 2*time.Hour)
	wall := time.Now().Add(time.Hour)
	b.do(c, core.Op{Kind: frame.SetAt, Key: []byte("b"), Value: []byte("2"), Due: wall.UnixNano()})
	b.NoError(o.All(false, func(t state.Timer) bool {
		b.Equal(t.Key == "b", t.Wall)
		b.True(t.Key != "b" || t.Due == wall.UnixNano())
		return true
	}))
	n, err := c.Len(t.Context(), 0)
	b.NoError(err)
	b.Equal(2, n)
	call := b.do(c, removeOp("a"))
	b.Equal([]string{"1"}, call.Values)
	b.Equal("-", b.get(c, "a"))
	call = b.do(c, setOp("x", ""), removeOp("y"), removeOp("x"), setOp("z", ""))
	b.Equal([]bool{true, false, true, true}, call.Took)
	b.Equal([]string{""}, call.Values)
	call = b.do(c, setOp("y", "4"), removeOp("z"), removeOp("y"))
	b.Equal([]string{"", "4"}, call.Values)
	call.Reset() // a call is used again
	call.Ops = append(call.Ops, removeOp("b"))
	b.NoError(c.Do(t.Context(), 0, call, c.Now()))
	b.Equal([]string{"2"}, call.Values)
}

// The errors of a call are those of the partition.
func TestErrorsOfTheOwner(t *testing.T) {
	b := newBench(t)
	b.part.MaxPending = 1
	o, c := b.own(), b.client()
	b.do(c, setOp("a", ""))
	_, err := c.try(t.Context(), setOp("b", ""))
	b.ErrorIs(err, core.ErrFull)
	_, err = c.try(t.Context(), setOp("b", strings.Repeat("v", 9<<20)))
	b.ErrorIs(err, core.ErrTooLarge)
	_, err = c.try(t.Context(), setOp("b", strings.Repeat("v", 1<<20))) // the log's largest message
	b.ErrorIs(err, core.ErrTooLarge)
	_, err = c.try(t.Context(), make([]core.Op, core.MaxOps+1)...)
	b.ErrorIs(err, core.ErrTooLarge)
	o.shut()
	damage := fmt.Errorf("%w: frame 7 is missing", partition.ErrDamaged)
	s, err := Refuse(b.cfg, 0, damage)
	b.NoError(err)
	defer s.Stop()
	_, err = c.try(t.Context(), removeOp("a"))
	b.ErrorIs(err, partition.ErrDamaged)
	b.EqualError(err, damage.Error())
	_, _, _, err = c.Get(t.Context(), 0, []byte("a"))
	b.ErrorIs(err, partition.ErrDamaged)
}

// A call that no process answers is given up after a time.
func TestUnavailable(t *testing.T) {
	b := newBench(t)
	b.cfg.GiveUp = 4 * time.Second // in which it is told that nobody is there
	c := b.client()
	begun := time.Now()
	_, err := c.try(t.Context(), removeOp("a"))
	b.ErrorIs(err, partition.ErrUnavailable)
	b.ErrorIs(err, errNobody)
	b.GreaterOrEqual(time.Since(begun), b.cfg.GiveUp)
	_, err = c.Len(t.Context(), 0)
	b.ErrorIs(err, errNobody)
	c.Close()
	_, err = c.try(t.Context(), removeOp("a"))
	b.ErrorIs(err, hierarchy.ErrClosed)
	_, err = c.Len(t.Context(), 0)
	b.ErrorIs(err, hierarchy.ErrClosed)
}

// A call whose context ends in the queue is not sent. One that was sent may be committed.
func TestContextEnds(t *testing.T) {
	b := newBench(t)
	o := b.own()
	c, net := b.far()
	c.quiet = time.Hour // no copies
	release := net.hold(true)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	ask := func(ctx context.Context, k string) {
		go func() { _, err := c.try(ctx, setOp(k, "")); errs <- err }()
	}
	for i := range maxFlying {
		ask(ctx, fmt.Sprint("sent", i))
		b.Eventually(func() bool { return net.Messages.Load() == int64(i+1) }, time.Minute, time.Millisecond)
	}
	for i := range 3 {
		ask(ctx, fmt.Sprint("queued", i))
	}
	queued := func(n int) {
		b.Eventually(func() bool { return c.lanes[0].queued() == n }, time.Minute, time.Millisecond)
	}
	queued(3)
	cancel()
	for range maxFlying + 3 {
		b.ErrorIs(<-errs, context.Canceled)
	}
	queued(0)
	ask(t.Context(), "next")
	queued(1) // those on their way keep their places
	release()
	b.NoError(<-errs)
	b.Equal("", b.get(c, "next"))
	n, err := o.Len()
	b.NoError(err)
	b.Equal(maxFlying+1, n)
	_, err = c.try(ctx, setOp("late", ""))
	b.ErrorIs(err, context.Canceled)
	_, err = c.Len(ctx, 0)
	b.ErrorIs(err, context.Canceled)
}

// queued is how many calls are in no message.
func (l *lane) queued() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for a := l.waiting.first; a != nil; a = a.next {
		n++
	}
	return n
}

// While four messages are on their way, calls gather for the next ones, as many as one may have.
func TestCallsGather(t *testing.T) {
	b := newBench(t)
	b.own()
	c, net := b.far()
	c.quiet = time.Hour // no copies
	release := net.hold(false)
	const calls = 1200
	errs := make(chan error, calls)
	for i := range calls {
		go func() { _, err := c.try(t.Context(), setOp(fmt.Sprint(i), "")); errs <- err }()
	}
	b.Eventually(func() bool { return c.lanes[0].queued() == calls-maxFlying }, time.Minute, time.Millisecond)
	release()
	for range calls {
		b.NoError(<-errs)
	}
	b.EqualValues(maxFlying+3, net.Messages.Load())
}

// all is how many calls wait for an answer.
func (l *lane) all() int {
	n := l.queued()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.flying {
		n += m.wanted
	}
	return n
}
