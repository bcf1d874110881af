package partition

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An attempt that was left is listed as running until its time is over, and then as waiting.
func TestListOfALeftAttempt(t *testing.T) {
	b := newBench(t)
	b.announcing()
	b.open()
	b.due("k", time.Hour)
	b.took()
	check := func(want state.States) {
		t.Helper()
		for _, st := range []state.States{state.Waiting, state.Running} {
			found, err := b.p.List(&Query{States: st, Limit: 2, Bytes: 1000})
			b.NoError(err)
			if st != want {
				b.Empty(found.Timers)
				continue
			}
			b.Len(found.Timers, 1)
			b.Equal(st == state.Running, found.Timers[0].Running)
		}
	}
	check(state.Running)
	b.shut()
	b.open()
	check(state.Running)
	b.mock.Add(time.Hour)
	b.Len(b.took(), 1)
	check(state.Waiting)
}
