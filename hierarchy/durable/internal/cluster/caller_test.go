package cluster

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// onlyReads fails the test when a process changes the table.
func (p *process) onlyReads() {
	p.store.SetFault(func(c memtable.Call) memtable.Fault {
		if c.Op != "watch" && c.Op != "get" {
			p.w.t.Errorf("a caller changes the table: %s %s", c.Op, c.Key)
		}
		return memtable.Fault{}
	})
}

// A caller does all that members do with timers, and none of them counts it.
func TestCaller(t *testing.T) {
	w := newWorld(t)
	a, b := w.patient(), w.patient() // what is counted stays as it is
	w.NoError(a.open(t.Context()))
	w.NoError(b.open(t.Context()))
	c := w.openCaller()
	c.onlyReads()
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	for i := range 20 {
		c.set(fmt.Sprint("key", i), "value", time.Hour)
	}
	w.Len(c.keys(), 20)
	n, err := c.Count(t.Context(), 0)
	w.NoError(err)
	w.Equal(6, n)
	value, remaining, ok, err := c.Get(t.Context(), of("key1"), []byte("key1"))
	w.NoError(err)
	w.True(ok)
	w.Equal("value", value)
	w.Greater(remaining, time.Minute)
	old, ok, err := c.do(frame.Remove, "key1", "", 0)
	w.NoError(err)
	w.True(ok)
	w.Equal("value", old)
	_, ok, err = c.do(frame.Move, "key2", "", 0)
	w.NoError(err)
	w.True(ok)
	w.eventually("fired", func() bool { return len(w.firings("key2")) == 1 })
	epoch, err := c.Epoch(t.Context(), 0)
	w.NoError(err)
	w.NotZero(epoch)

	w.eventually("seen so by a", func() bool { _, owners := a.Members(); return !slices.Contains(owners, -1) })
	w.eventually("seen so", func() bool { // the news of the table come a little later
		members, owners := c.caller.Members()
		return len(members) == 2 && members[0].Owned == 2 && members[1].Owned == 2 && !slices.Contains(owners, -1)
	})
	members, owners := c.caller.Members()
	w.Len(owners, partitions)
	for at, i := range owners {
		w.False(members[i].Self)
		st, owned, err := c.caller.Stats(at)
		w.NoError(err)
		w.False(owned)
		w.Zero(st.Unavailable)
	}
}

// Without an owner, calls wait until there is one, or their contexts end.
func TestCallerWithoutOwners(t *testing.T) {
	w := newWorld(t)
	begun := time.Now()
	c := w.openCaller()
	st, _, _ := c.caller.Stats(0)
	w.True(st.Unavailable.After(begun))
	ctx, cancel := context.WithTimeout(t.Context(), lease/4)
	defer cancel()
	err := c.Do(ctx, 0, &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("key0")}}})
	w.ErrorIs(err, context.DeadlineExceeded)
	answered := make(chan error)
	go func() {
		_, _, err := c.do(frame.Set, "key1", "", time.Hour)
		answered <- err
	}()
	a := w.open()
	w.NoError(<-answered)
	w.eventually("seen", func() bool { st, _, _ := c.caller.Stats(0); return st.Unavailable.IsZero() })
	a.kill()
	w.eventually("gone", func() bool { st, _, _ := c.caller.Stats(0); return !st.Unavailable.IsZero() })
}

// A caller ends at once, whatever waits. What may be committed is ErrUnavailable.
func TestCallerEnds(t *testing.T) {
	for what, end := range map[string]func(*Caller){
		"shutdown": func(c *Caller) { _ = c.Shutdown(context.Background()) },
		"close":    (*Caller).Close,
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			c := w.openCaller()
			asked := make(chan bool, 100)
			owner, err := c.cfg.Bus.Subscribe(fmt.Sprintf("epicycle.%s.ask.1", w.name), func(storage.Message) { asked <- true }) // it says nothing
			w.NoError(err)
			defer owner.Stop()
			waiting := make(chan error)
			go func() {
				_, _, err := c.do(frame.Set, "key1", "", time.Hour)
				waiting <- err
			}()
			<-asked
			end(c.caller)
			w.Error(<-waiting)
			_, _, err = c.do(frame.Set, "key1", "", time.Hour)
			w.ErrorIs(err, core.ErrClosed)
			_, _, _, err = c.Get(t.Context(), 1, []byte("key1"))
			w.ErrorIs(err, core.ErrClosed)
			w.ErrorIs(c.All(t.Context(), 1, false, func(state.Timer) bool { return true }), core.ErrClosed)
			end(c.caller) // again
		})
	}
}

// A caller whose connection is closed for good says so.
func TestCallerWithoutAConnection(t *testing.T) {
	w := newWorld(t)
	w.open()
	c := w.openCaller()
	begun := time.Now()
	c.conn.Close()
	w.eventually("noticed", func() bool { st, _, _ := c.caller.Stats(0); return st.Unavailable.After(begun) })
	_, _, err := c.do(frame.Set, "key1", "", time.Hour)
	w.True(isUnavailable(err), "%v", err)
}
