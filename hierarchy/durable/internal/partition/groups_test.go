package partition

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// group is a Call with parts.
func group(serial, floor uint64, parts ...[]core.Op) *core.Call {
	c := &core.Call{Request: core.RequestID{Caller: 7, Serial: serial, Floor: floor}}
	for _, ops := range parts {
		c.Ops = append(c.Ops, ops...)
		c.Parts = append(c.Parts, core.Part{End: len(c.Ops)})
	}
	return c
}

// Each part of a group is committed by itself, all in one frame. Copies are answered alike.
func TestGroups(t *testing.T) {
	for name, between := range map[string]func(*bench){
		"nothing": func(*bench) {}, "crash": (*bench).reopen,
		"trimming": func(b *bench) { b.trimAll(); b.reopen() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if b.cfg.MaxPending = 3; name == "trimming" {
				b.cfg.TrimAbove = 1
			}
			b.open()
			b.set("old", "value", time.Hour)
			ask := func() {
				c := group(1, 1, []core.Op{b.setOp("a", ""), removeOp("none")}, []core.Op{b.setOp("b", ""), b.setOp("c", "")},
					[]core.Op{removeOp("old")}, []core.Op{b.setOp("d", "1"), b.setOp("d", "2")}, nil, []core.Op{removeOp("old")})
				b.NoError(b.p.Do(t.Context(), c))
				b.Equal([]bool{true, false, false, false, true, true, true, false}, c.Took)
				b.Equal([]core.Part{{End: 2}, {End: 4, Err: core.ErrFull}, {End: 5, Value: "value"}, {End: 7}, {End: 7}, {End: 8}}, c.Parts)
			}
			appends := b.disk.Appends()
			ask()
			if name != "trimming" {
				b.Equal(appends+1, b.disk.Appends())
			}
			b.remove("a")
			between(b)
			ask()
			b.Equal(map[string]string{"d": "2"}, b.keys(false))
			b.ErrorContains(b.p.Do(t.Context(), group(1, 1, []core.Op{removeOp("d")})), otherRequest)
			b.ErrorContains(b.p.Do(t.Context(), group(1, 1, make([]core.Op, 2), make([]core.Op, 2))), otherRequest)
		})
	}
}

// Answers below the floor are forgotten at once, and copies below it take no hold.
func TestFloors(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 1
	b.open()
	ask := func(serial, floor uint64) error {
		return b.p.Do(t.Context(), group(serial, floor, []core.Op{b.setOp(fmt.Sprint(serial), "")}))
	}
	check := func(answers int) {
		b.t.Helper()
		b.Equal(answers, b.answers())
		for serial := range uint64(4) {
			b.ErrorIs(ask(serial, 0), core.ErrForgotten)
		}
		b.NoError(ask(4, 2))
		b.NotContains(b.keys(false), "3") // it was never asked for above the floor
		b.Equal(answers, b.answers())
	}
	for _, serial := range []uint64{1, 2, 4} {
		b.NoError(ask(serial, 1))
	}
	b.Equal(3, b.answers())
	b.NoError(ask(5, 4))
	check(2)
	b.reopen()
	check(2)
	b.trimAll()
	check(2)
	b.reopen()
	check(2)
	b.NoError(ask(6, 6))
	b.Equal(1, b.answers())
	b.NoError(ask(7, 6))
	b.NoError(ask(9, 6))
	b.ErrorIs(ask(8, 6), core.ErrPassed)
	b.Equal(3, b.answers())
	b.NoError(ask(10, 8))
	b.Equal(2, b.answers())
}

// A copy below the floor of a request before it in the frame is not committed.
func TestFloorInOneFrame(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := b.openHeld()
		go b.set("a", "1", time.Hour)
		<-held
		first, late := group(9, 9, []core.Op{b.setOp("b", "")}), group(8, 1, []core.Op{removeOp("a")})
		firstStarted := b.start(first)
		lateStarted := b.start(late)
		synctest.Wait()
		hold <- true
		b.NoError(firstStarted.Wait(b.t.Context()))
		b.ErrorIs(lateStarted.Wait(b.t.Context()), core.ErrForgotten)
		b.reopen()
		b.Len(b.keys(false), 2)
		b.shut()
	})
}

// The values of a group that do not fit one frame are left where they are, and can be asked for
// again.
func TestValuesBeyondAFrame(t *testing.T) {
	b := newBench(t)
	b.open()
	const n = 40
	var parts [][]core.Op
	for i := range n {
		b.set(fmt.Sprint(i), strings.Repeat("v", 64<<10), time.Hour)
		parts = append(parts, []core.Op{removeOp(fmt.Sprint(i))})
	}
	var took int
	for serial := uint64(1); len(parts) > 0; serial++ {
		c := group(serial, serial, parts...)
		b.NoError(b.p.Do(t.Context(), c))
		again := group(serial, serial, parts...)
		b.NoError(b.p.Do(t.Context(), again))
		b.Equal(c.Parts, again.Parts)
		var rest [][]core.Op
		for i, p := range c.Parts {
			if p.Err != nil {
				b.ErrorIs(p.Err, core.ErrLater)
				b.False(c.Took[i])
				rest = append(rest, parts[i])
				continue
			}
			b.Len(p.Value, 64<<10)
			took++
		}
		b.Less(len(rest), len(parts))
		b.Equal(n-took, len(b.keys(false)))
		parts = rest
	}
	b.reopen()
	b.Empty(b.keys(false))
}

// A duration counts from Start, by the owner's time.
func TestDurationsCountFromStart(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.GiveUp = time.Hour
		hold, held := b.openHeld()
		go b.set("a", "1", time.Hour)
		<-held
		set, move := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("b"), In: time.Hour}}}, &core.Call{Ops: []core.Op{{Kind: frame.Move, Key: []byte("a"), In: 2 * time.Hour}}}
		setStarted := b.start(set)
		moveStarted := b.start(move)
		time.Sleep(time.Minute)
		hold <- true
		b.NoError(setStarted.Wait(b.t.Context()))
		b.NoError(moveStarted.Wait(b.t.Context()))
		_, left := b.get("b")
		b.Equal(59, int(left.Round(time.Second).Minutes()))
		_, left = b.get("a")
		b.Equal(119, int(left.Round(time.Second).Minutes()))
		b.shut()
	})
}
