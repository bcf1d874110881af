package partition

import (
	"context"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

func (b *bench) setIf(c core.Condition, k, v string, in time.Duration) bool {
	return b.do(core.Op{Kind: frame.Set, If: c, Key: []byte(k), Value: []byte(v), In: in})
}

// What is due together is not set again, neither sooner nor later. The log has the Sets alone that were committed.
func TestConditions(t *testing.T) {
	b := newBench(t)
	b.open()
	for _, k := range []string{"absent", "sooner", "later"} {
		c := map[string]core.Condition{"absent": core.IfAbsent, "sooner": core.IfSooner, "later": core.IfLater}[k]
		b.True(b.setIf(c, k, "1", time.Hour))
		appends := b.disk.Appends()
		b.False(b.setIf(c, k, "2", time.Hour))
		b.Equal(c == core.IfSooner, b.setIf(c, k, "3", time.Hour-1), k)
		b.Equal(c == core.IfLater, b.setIf(c, k, "4", time.Hour+1), k)
		b.False(b.setIf(c, k, "5", time.Hour))
		written := uint64(1)
		if c == core.IfAbsent {
			written = 0
		}
		b.EqualValues(written, b.disk.Appends()-appends)
	}
	want := map[string]string{"absent": "1", "sooner": "3", "later": "4"}
	b.Equal(want, b.keys(false))
	b.reopen()
	b.Equal(want, b.keys(false))
}

// Operations of one call are decided one after the other.
func TestConditionsInOneCall(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending = 2
	b.open()
	set := func(c core.Condition, v string, in time.Duration) core.Op {
		return core.Op{Kind: frame.Set, If: c, Key: []byte("k"), Value: []byte(v), In: in}
	}
	wall := core.Op{Kind: frame.SetAt, Key: []byte("k"), Value: []byte("at"), Due: b.mock.Now().Add(time.Hour).UnixNano()}
	c := &core.Call{Ops: []core.Op{
		set(core.IfAbsent, "1", time.Hour), set(core.IfAbsent, "2", time.Hour), set(core.IfLater, "3", 2*time.Hour), set(core.IfSooner, "4", 2*time.Hour),
		{Kind: frame.Move, Key: []byte("k"), In: 3 * time.Hour}, set(core.IfSooner, "5", 2*time.Hour),
		wall, set(core.IfSooner, "6", time.Hour), set(core.IfSooner, "7", time.Hour-1), removeOp("k"), set(core.IfLater, "8", -time.Hour),
	}}
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal([]bool{true, false, true, false, true, true, true, false, true, true, true}, c.Took)
	b.Equal([]string{"7"}, c.Values)
	b.Equal(map[string]string{"k": "8"}, b.keys(false))
}

// A Set that is not committed needs no place under MaxPending.
func TestConditionsNeedNoPlace(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending = 1
	b.open()
	b.set("k", "1", time.Hour)
	b.False(b.setIf(core.IfAbsent, "k", "2", 0))
	_, err := b.try(core.Op{Kind: frame.Set, If: core.IfAbsent, Key: []byte("other")})
	b.ErrorIs(err, core.ErrFull)
	c := &core.Call{Ops: []core.Op{
		{Kind: frame.Set, If: core.IfAbsent, Key: []byte("k"), In: time.Hour},
		removeOp("k"),
		{Kind: frame.Set, If: core.IfLater, Key: []byte("other"), In: time.Hour},
		{Kind: frame.Set, If: core.IfLater, Key: []byte("other"), In: time.Minute},
	}}
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal([]bool{false, true, true, false}, c.Took)
}

// A dead timer is none. One that waits for its next attempt is due then.
func TestConditionsAndAttempts(t *testing.T) {
	b := newBench(t)
	b.handle = func(_ context.Context, f core.Firing) error {
		if f.Value == "fails" {
			return errHandler
		}
		return nil
	}
	b.cfg.MaxAttempts = 2
	b.cfg.Backoff = func(int) time.Duration { return time.Hour }
	b.open()
	b.set("k", "fails", time.Second)
	b.mock.Add(time.Second)
	b.False(b.setIf(core.IfAbsent, "k", "2", 0))
	b.False(b.setIf(core.IfSooner, "k", "2", time.Hour))
	b.False(b.setIf(core.IfLater, "k", "2", time.Hour))
	b.True(b.setIf(core.IfSooner, "k", "fails", time.Hour-1))
	b.mock.Add(time.Hour - 1)
	b.True(b.setIf(core.IfLater, "k", "fails", time.Hour+1))
	b.mock.Add(3 * time.Hour)
	b.Equal(map[string]string{"k": "fails"}, b.keys(true))
	c := &core.Call{Ops: []core.Op{{Kind: frame.Set, Whole: true, Key: []byte("k"), Value: []byte("fails")}}}
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal([]string{""}, c.Values) // nothing that a caller sees was replaced
	b.mock.Add(3 * time.Hour)
	for _, cond := range []core.Condition{core.IfAbsent, core.IfSooner, core.IfLater} {
		b.Len(b.keys(true), 1)
		b.True(b.setIf(cond, "k", "fails", 0))
		b.mock.Add(3 * time.Hour)
	}
}

// A wall time is compared as far ahead as it is now, whatever the wall clock was when it was set.
func TestConditionsCompareWallTimes(t *testing.T) {
	b := newBench(t)
	b.open()
	b.setAt("k", "at", b.mock.Now().Add(2*time.Hour))
	b.mock.Set(b.mock.Now().Add(time.Hour))
	b.False(b.setIf(core.IfSooner, "k", "", time.Hour))
	b.False(b.setIf(core.IfLater, "k", "", time.Hour))
	b.True(b.setIf(core.IfSooner, "k", "", time.Hour-1))
	b.setAt("k", "at", b.mock.Now().Add(2*time.Hour))
	b.mock.Set(b.mock.Now().Add(-time.Hour))
	b.False(b.setIf(core.IfLater, "k", "", 3*time.Hour))
	b.True(b.setIf(core.IfLater, "k", "", 3*time.Hour+1))
}
