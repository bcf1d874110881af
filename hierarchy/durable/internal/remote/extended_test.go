package remote

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

func setIfOp(c partition.Condition, k, v string, in time.Duration) partition.Op {
	return partition.Op{Kind: frame.Set, If: c, Key: []byte(k), Value: []byte(v), In: in}
}

// ownAsEarlier is an owner that reads messages up to version 2. It says how many it could not read.
func (b *bench) ownAsEarlier() (refused chan bool, end func()) {
	cfg := b.cfg
	b.cfg.Name += "now" // the owner is asked by the subscription below alone
	o := b.own()
	b.cfg = cfg
	refused = make(chan bool, 10_000)
	sub, err := conn.Subscribe(b.cfg.subject(0), func(m *nats.Msg) {
		switch {
		case m.Data[0] > dated:
			refused <- true
			_ = m.Respond(appendFailure(nil, fmt.Errorf("%w: the message has %d instead of %d", errVersion, m.Data[0], Version)))
		case kind(m.Data[1]) > timeKind:
			_ = m.Respond(appendFailure(nil, errKind))
		default:
			o.received(storage.Message{Subject: m.Subject, Reply: m.Reply, Data: m.Data})
		}
	})
	b.NoError(err)
	return refused, func() { b.NoError(sub.Unsubscribe()); o.dead.Store(true); o.shut() }
}

// While the owner is of an earlier version, operations that it does not know wait for the next one, however many, and
// hold up no others. They are committed after that.
func TestExtendedForAnEarlierOwner(t *testing.T) {
	b := newBench(t)
	refused, end := b.ownAsEarlier()
	c := b.client()
	const n = 3 * maxFlying
	results := make(chan *partition.Call, n)
	for i := range n {
		go func() { results <- b.do(c, setIfOp(partition.IfAbsent, "k", fmt.Sprint(i), time.Hour)) }()
	}
	for range 2 * maxFlying {
		<-refused
	}
	for i := range 10 {
		b.True(b.do(c, setOp("plain", fmt.Sprint(i))).Took[0])
		b.Equal(fmt.Sprint(i), b.get(c, "plain"))
	}
	listed := 0
	b.NoError(c.Scan(t.Context(), 0, false, func(state.Timer) bool { listed++; return true }))
	b.Equal(1, listed)
	b.Equal("-", b.get(c, "k"))
	end()
	b.own()
	set := 0
	for range n {
		if call := <-results; call.Took[0] {
			set++
		}
	}
	b.Equal(1, set)
}

// If it stays so, the error says which versions these are, and nothing has been committed.
func TestExtendedForAnEarlierOwnerThatStays(t *testing.T) {
	b := newBench(t)
	_, end := b.ownAsEarlier()
	defer end()
	b.cfg.GiveUp = time.Second // in which there is an answer
	c := b.client()
	_, err := c.try(t.Context(), partition.Op{Kind: frame.Remove, Whole: true, Key: []byte("k")})
	b.ErrorIs(err, partition.ErrUnavailable)
	b.ErrorContains(err, "another version: the message has 3 instead of 1")
}

// The owner decides, and what it took out comes whole. Lost and doubled copies change nothing.
func TestExtended(t *testing.T) {
	b := newBench(t)
	running := make(chan bool)
	b.part.Handle = func(ctx context.Context, _ partition.Firing) error {
		running <- true
		<-ctx.Done()
		return nil
	}
	b.own()
	c, net := b.far()
	c.quiet = 10 * time.Millisecond
	var n atomic.Int64
	net.setFate(func(answer bool) time.Duration {
		if n.Add(1)%3 == 0 && answer {
			return lost
		}
		return twice
	})
	b.True(b.do(c, setIfOp(partition.IfAbsent, "k", "1", time.Hour)).Took[0])
	b.False(b.do(c, setIfOp(partition.IfAbsent, "k", "2", time.Hour)).Took[0])
	b.False(b.do(c, setIfOp(partition.IfSooner, "k", "3", 2*time.Hour)).Took[0])
	b.True(b.do(c, setIfOp(partition.IfLater, "k", "4", 2*time.Hour)).Took[0])
	b.Equal("4", b.get(c, "k"))
	call := b.do(c, partition.Op{Kind: frame.Set, Whole: true, Key: []byte("k"), Value: []byte("5")})
	old, ok := partition.Was(call.Values[0])
	b.True(ok)
	b.Equal("4", old.Value)
	<-running
	var listed state.Timer
	b.NoError(c.Scan(t.Context(), 0, false, func(t state.Timer) bool { listed = t; return true }))
	b.True(listed.Running)
	call = b.do(c, partition.Op{Kind: frame.Remove, Whole: true, Key: []byte("k")})
	was, ok := partition.Was(call.Values[0])
	b.True(ok)
	b.True(was.Running)
	listed.Key = ""
	b.Equal(listed, was)
	call = b.do(c, partition.Op{Kind: frame.Set, Whole: true, Key: []byte("k"), In: time.Hour})
	_, ok = partition.Was(call.Values[0])
	b.False(ok)
}

// While a process of an earlier version shares the log, schedules wait, however many, and hold up nothing else that is
// extended.
func TestSchedulesForAMixedLog(t *testing.T) {
	b := newBench(t)
	b.cfg.GiveUp = 15 * time.Second
	var version atomic.Uint32
	version.Store(frame.First)
	b.part.Version = func() uint8 { return uint8(version.Load()) }
	b.own()
	c := b.client()
	const n = 2 * maxFlying
	results := make(chan *partition.Call, n)
	for i := range n {
		op := partition.Op{Kind: frame.SetAt, Key: []byte(fmt.Sprint(i)), Schedule: []byte("@daily")}
		go func() { results <- b.do(c, op) }()
	}
	l := c.lanes[0]
	b.Eventually(func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.flying) == maxFlying
	}, time.Minute, time.Millisecond)
	for i := range 10 {
		b.Equal(i == 0, b.do(c, setIfOp(partition.IfAbsent, "k", fmt.Sprint(i), time.Hour)).Took[0])
	}
	b.Empty(results)
	version.Store(frame.Version)
	for range n {
		b.True((<-results).Took[0])
	}
}
