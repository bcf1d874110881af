package partition

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Attempts that are postponed do not count, and their timers wait, also after a restart.
func TestPostponed(t *testing.T) {
	for name, next := range successions {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.announcing()
			b.open()
			b.set("k", "v", 0)
			b.mock.Add(time.Second)
			for range 5 { // more often than an attempt may fail
				a := b.begin()
				b.EqualValues(1, a.Attempt)
				took, err := a.End(t.Context(), fmt.Errorf("as it says: %w", &core.Postponed{Err: errHandler, In: time.Minute}))
				b.NoError(err)
				b.True(took)
				next(b)
				timer, _, err := b.p.Lookup([]byte("k"))
				b.NoError(err)
				b.Zero(timer.Attempt)
				b.Equal(b.p.time.now()+int64(time.Minute), timer.Next)
				_, left := b.get("k")
				b.Equal(time.Minute, left)
				b.False(b.do(core.Op{Kind: frame.Set, If: core.IfSooner, Key: []byte("k"), In: time.Minute}))
				b.took()
				b.mock.Add(time.Minute - 1)
				b.Empty(b.took())
				b.mock.Add(1)
			}
			a := b.begin()
			_, err := a.End(t.Context(), errHandler)
			b.NoError(err)
			b.mock.Add(time.Second)
			a = b.begin()
			b.EqualValues(2, a.Attempt)
			_, err = a.End(t.Context(), &core.Postponed{In: -1})
			b.NoError(err)
			b.mock.Add(1)
			a = b.begin()
			b.EqualValues(2, a.Attempt)
		})
	}
}

// The runs of a schedule go on after one that was left.
func TestLeftRuns(t *testing.T) {
	for _, last := range []error{nil, &core.Final{Err: errHandler}} {
		b := newBench(t)
		b.announcing()
		died := make(chan core.Firing, 1)
		b.cfg.OnDead = func(f core.Firing, _ error) { died <- f }
		b.open()
		b.schedule("k", "v", "@every 1m")
		b.mock.Add(time.Minute)
		a := b.begin()
		end := b.ends(&a, time.Hour)
		b.shut()
		b.open()
		b.True(end(last))
		if last != nil {
			b.Equal(a.ID, (<-died).ID)
		}
		b.took()
		b.mock.Add(time.Minute)
		b.NotEqual(a.ID, b.last().ID)
		b.False(end(nil), "it is of another run")
		b.shut()
	}
}

// What waits for Begin is withdrawn when it is set, moved or removed, and when the partition ends.
func TestWithdrawn(t *testing.T) {
	b := newBench(t)
	withdrawn := b.announcing()
	b.open()
	for _, k := range []string{"set", "moved", "removed", "begun", "left"} {
		b.set(k, "v", 0)
	}
	b.mock.Add(time.Second)
	firings := b.fired
	b.beginOf("left")
	b.beginOf("begun")
	check := func(want ...string) {
		b.t.Helper()
		var keys []string
		for _, f := range *withdrawn {
			keys = append(keys, f.Key)
			i := slices.IndexFunc(firings, func(g core.Firing) bool { return g.Key == f.Key })
			b.Equal(firings[i], f)
		}
		slices.Sort(keys)
		b.Equal(want, keys)
		*withdrawn = nil
	}
	b.set("set", "w", time.Hour)
	check("set")
	b.move("moved", time.Hour)
	check("moved")
	b.remove("removed")
	check("removed")
	b.remove("begun")
	check()
	b.set("waits", "v", 0)
	b.set("waits too", "v", 0)
	b.True(b.do(core.Op{Kind: frame.Import, Key: []byte("many"), Timer: &state.Timer{ID: frame.ID{Owner: 1, Number: 1}, Attempt: state.MaxCount}}))
	b.mock.Add(time.Second)
	firings = b.fired
	b.p.Abandon()
	b.p = nil
	check("many", "waits", "waits too")
	b.open()
	b.shut()
}

// beginOf begins the attempt of a key that was announced.
func (b *bench) beginOf(k string) {
	i := slices.IndexFunc(b.fired, func(f core.Firing) bool { return f.Key == k })
	_, ok := b.p.Begin([]byte(k), b.fired[i].ID)
	b.True(ok)
}
