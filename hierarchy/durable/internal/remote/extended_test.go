package remote

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

func setIfOp(c core.Condition, k, v string, in time.Duration) core.Op {
	return core.Op{Kind: frame.Set, If: c, Key: []byte(k), Value: []byte(v), In: in}
}

// The owner decides, and what it took out comes whole. Lost and doubled copies change nothing.
func TestExtended(t *testing.T) {
	b := newBench(t)
	running := make(chan bool)
	b.part.Handle = func(ctx context.Context, _ core.Firing) error {
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
	b.True(b.do(c, setIfOp(core.IfAbsent, "k", "1", time.Hour)).Took[0])
	b.False(b.do(c, setIfOp(core.IfAbsent, "k", "2", time.Hour)).Took[0])
	b.False(b.do(c, setIfOp(core.IfSooner, "k", "3", 2*time.Hour)).Took[0])
	b.True(b.do(c, setIfOp(core.IfLater, "k", "4", 2*time.Hour)).Took[0])
	b.Equal("4", b.get(c, "k"))
	call := b.do(c, core.Op{Kind: frame.Set, Whole: true, Key: []byte("k"), Value: []byte("5")})
	old, ok := core.Was(call.Values[0])
	b.True(ok)
	b.Equal("4", old.Value)
	<-running
	var listed state.Timer
	b.NoError(c.Scan(t.Context(), 0, false, func(t state.Timer) bool { listed = t; return true }))
	b.True(listed.Running)
	call = b.do(c, core.Op{Kind: frame.Remove, Whole: true, Key: []byte("k")})
	was, ok := core.Was(call.Values[0])
	b.True(ok)
	b.True(was.Running)
	listed.Key = ""
	b.Equal(listed, was)
	call = b.do(c, core.Op{Kind: frame.Set, Whole: true, Key: []byte("k"), In: time.Hour})
	_, ok = core.Was(call.Values[0])
	b.False(ok)
}
