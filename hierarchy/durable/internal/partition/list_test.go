package partition

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A List ends with the timer before its bytes are too many, and returns one at least.
func TestListBytes(t *testing.T) {
	b := newBench(t)
	b.open()
	for i := range 10 {
		b.set(fmt.Sprint(i), string(make([]byte, 1000)), time.Hour)
	}
	q := Query{States: state.Waiting, Limit: 100, Bytes: 3500}
	for _, want := range []string{"012", "345", "678", "9"} {
		found, err := b.p.List(&q)
		b.NoError(err)
		b.Equal(want, joined(found))
		b.Equal(want != "9", found.More)
		q.From = After(found.Timers[len(found.Timers)-1].Key)
	}
	q.From, q.Bytes = "", 1
	found, err := b.p.List(&q)
	b.NoError(err)
	b.Equal("0", joined(found))
	q.Bytes, q.Limit = 1<<20, 2
	found, err = b.p.List(&q)
	b.NoError(err)
	b.Equal("01", joined(found))
	b.True(found.More)
	q.Prefix = "9" // the beginning of the keys is theirs, even if From is before them
	found, err = b.p.List(&q)
	b.NoError(err)
	b.Equal("9", joined(found))
	b.False(found.More)
}

func joined(f Found) (keys string) {
	for _, t := range f.Timers {
		keys += t.Key
	}
	return keys
}

// No List builds the index of all timers at once: it returns that there is more, and the next one goes on.
func TestListBuildsTheIndexInSteps(t *testing.T) {
	b := newBench(t)
	b.open()
	const n = 3*indexSteps*scanBatch - 100
	for i := 0; i < n; i += 1000 {
		c := new(core.Call)
		for j := i; j < min(n, i+1000); j++ {
			c.Ops = append(c.Ops, core.Op{Kind: frame.Set, Key: fmt.Appendf(nil, "%05d", j), In: time.Hour})
		}
		b.NoError(b.p.Do(t.Context(), c))
	}
	q := Query{States: state.Waiting | state.Dead, Limit: n + 1, Bytes: 1 << 30}
	for range 2 {
		found, err := b.p.List(&q)
		b.NoError(err)
		b.Empty(found.Timers)
		b.True(found.More)
		b.remove("00000") // of those that are in the index
		b.set("00001", "again", time.Minute)
		b.set(fmt.Sprintf("%05d", n-1), "of those that are not", time.Minute)
		b.set("x", "new", time.Hour)
	}
	found, err := b.p.List(&q)
	b.NoError(err)
	b.Len(found.Timers, n)
	b.False(found.More)
	b.Equal("00001", found.Timers[0].Key)
	b.Equal("again", found.Timers[0].Value)
	b.Equal("x", found.Timers[n-1].Key)
}

// A timer that runs is exported with the last attempt that is in the log, and listed with the one that has begun.
func TestListOfARunningTimer(t *testing.T) {
	b := newBench(t)
	listed := make(map[bool]uint32)
	b.cfg.Handle = func(context.Context, core.Firing) error {
		for _, logged := range []bool{false, true} {
			found, err := b.p.List(&Query{States: state.Running, Limit: 1, Bytes: 1, Logged: logged})
			b.NoError(err)
			b.Len(found.Timers, 1)
			listed[logged] = found.Timers[0].Attempt
		}
		return nil
	}
	b.open()
	b.set("k", "v", 0)
	b.mock.Add(0)
	b.Equal(map[bool]uint32{false: 1, true: 0}, listed)
}
