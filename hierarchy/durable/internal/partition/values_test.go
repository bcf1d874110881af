package partition

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// removes returns a removal of each key.
func removes(keys ...string) (ops []core.Op) {
	for _, k := range keys {
		ops = append(ops, removeOp(k))
	}
	return ops
}

// A call gets what each of its Removes has taken out, also what the call itself has set.
func TestValuesOfSeveralRemoves(t *testing.T) {
	for _, id := range []core.RequestID{{}, {Caller: 7, Serial: 1, Floor: 1}} {
		b := newBench(t)
		b.open()
		b.set("a", "1", time.Hour)
		b.set("empty", "", time.Hour)
		b.set("c", "3", time.Hour)
		ops := removes("a", "none", "empty", "a")
		ops = append(ops, b.setOp("a", "new"), removeOp("a"), removeOp("c"))
		c := &core.Call{Ops: ops, Request: id}
		b.NoError(b.p.Do(t.Context(), c))
		b.Equal([]bool{true, false, true, false, true, true, true}, c.Took)
		b.Equal([]string{"1", "", "new", "3"}, c.Values)
		b.Empty(b.keys(false))
		c.Reset()
		b.Empty(c.Values)
		c.Ops = append(c.Ops, removeOp("a"))
		b.NoError(b.p.Do(t.Context(), c))
		b.Empty(c.Values)
	}
}

// Of more values than an answer has room for, it has the first ones. All are removed, and a copy gets the same.
func TestValuesBeyondAnAnswer(t *testing.T) {
	b := newBench(t)
	b.open()
	const n, size = 6, 50 << 10
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprint(i))
		b.set(keys[i], strings.Repeat(keys[i], size), time.Hour)
	}
	for range 2 {
		c := &core.Call{Ops: removes(keys...), Request: core.RequestID{Caller: 7, Serial: 1, Floor: 1}}
		b.NoError(b.p.Do(t.Context(), c))
		b.Equal([]bool{true, true, true, true, true, true}, c.Took)
		b.Len(c.Values, 5)
		for i, v := range c.Values {
			b.Equal(strings.Repeat(keys[i], size), v)
		}
		b.Empty(b.keys(false))
		b.reopen()
	}
}

// A call is committed also if it leaves no room for the values.
func TestValuesBesideALargeCall(t *testing.T) {
	b := newBench(t)
	b.open()
	large := strings.Repeat("v", 64<<10)
	b.set("a", large, time.Hour)
	c := &core.Call{Request: core.RequestID{Caller: 7, Serial: 1, Floor: 1}}
	for i := range 15 {
		c.Ops = append(c.Ops, b.setOp(fmt.Sprint(i), large))
	}
	c.Ops = append(c.Ops, removeOp("a"))
	b.NoError(b.p.Do(t.Context(), c))
	b.True(c.Took[15])
	b.Empty(c.Values)
	b.Len(b.keys(false), 15)
}

// A part of a group whose values have no room beside those of the others is retried, and has them all.
func TestValuesBesideOthers(t *testing.T) {
	b := newBench(t)
	b.open()
	const size = 60 << 10
	var parts [][]core.Op
	for i := range 10 {
		one, two := fmt.Sprint(i, "a"), fmt.Sprint(i, "b")
		b.set(one, strings.Repeat("1", size), time.Hour)
		b.set(two, strings.Repeat("2", size), time.Hour)
		parts = append(parts, removes(one, two))
	}
	serial, rounds := uint64(1), 0
	for ; len(parts) > 0; rounds++ {
		c := group(serial, serial, parts...)
		serial++
		b.NoError(b.p.Do(t.Context(), c))
		var rest [][]core.Op
		for i, p := range c.Parts {
			if p.Err != nil {
				b.ErrorIs(p.Err, core.ErrLater)
				rest = append(rest, parts[i])
				continue
			}
			b.Greater(len(p.Value), 2*size)
		}
		b.Less(len(rest), len(parts))
		parts = rest
	}
	b.Equal(2, rounds)
	b.Empty(b.keys(false))
}
