package partition

import (
	"strings"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

func TestCallsOfManyOperations(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("old", "0", time.Minute)
	c := &core.Call{Ops: []core.Op{
		{Kind: frame.Set, Key: []byte("a"), Value: []byte("1"), In: time.Second},
		{Kind: frame.Move, Key: []byte("a"), In: 2 * time.Second},
		{Kind: frame.Move, Key: []byte("none"), In: time.Second},
		{Kind: frame.Set, Key: []byte("b"), Value: []byte("2"), In: time.Second},
		{Kind: frame.Remove, Key: []byte("b")},
		{Kind: frame.Move, Key: []byte("b"), In: time.Second},
		{Kind: frame.Remove, Key: []byte("old")},
		{Kind: frame.Remove, Key: []byte("old")},
	}}
	before := b.disk.Appends()
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal(before+1, b.disk.Appends())
	b.Equal([]bool{true, true, false, true, true, false, true, false}, c.Took)
	b.crash()
	b.open()
	b.Equal(map[string]string{"a": "1"}, b.keys(false))
	b.mock.Add(time.Hour)
	b.Equal([]string{"a"}, b.took())
}

func TestNothingIsWrittenForWhatTakesNoHold(t *testing.T) {
	b := newBench(t)
	b.open()
	before := b.disk.Appends()
	b.False(b.move("a", 0))
	_, ok := b.remove("a")
	b.False(ok)
	b.False(b.revive("a"))
	b.Equal(before, b.disk.Appends())
}

func TestMaxPending(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending = 2
	b.open()
	b.set("a", "1", time.Minute)
	b.set("b", "1", time.Minute)
	set := func(k string) core.Op {
		return core.Op{Kind: frame.Set, Key: []byte(k), In: time.Minute}
	}
	_, err := b.try(set("c"))
	b.ErrorIs(err, core.ErrFull)
	b.set("b", "2", time.Minute) // it is there already
	c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("a")}, set("c"), set("d")}}
	b.ErrorIs(b.p.Do(t.Context(), c), core.ErrFull)
	b.Len(b.keys(false), 2)
	c = &core.Call{Ops: []core.Op{set("c"), {Kind: frame.Remove, Key: []byte("a")}, set("c")}}
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal(map[string]string{"b": "2", "c": ""}, b.keys(false))
	b.crash()
	b.cfg.MaxPending = 1 // what is there stays, and can be set again
	b.open()
	b.Len(b.keys(false), 2)
	b.set("b", "3", time.Minute)
	_, err = b.try(set("d"))
	b.ErrorIs(err, core.ErrFull)
}

func TestTooLarge(t *testing.T) {
	b := newBench(t)
	b.open()
	_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("a"), Value: []byte(strings.Repeat("v", 1<<20))})
	b.ErrorIs(err, core.ErrTooLarge)
	c := &core.Call{Ops: make([]core.Op, core.MaxOps+1)}
	b.ErrorIs(b.p.Do(t.Context(), c), core.ErrTooLarge)
	b.set("a", strings.Repeat("v", 1<<19), 0)
}
