package salvage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Answers to other processes are in the frames, and say nothing of timers.
func TestAnswersAmongTimers(t *testing.T) {
	var w frame.Builder
	w.Start(frame.Header{Number: 1})
	w.Add(&frame.Op{Kind: frame.Set, Key: []byte("a"), Value: []byte("1")})
	w.Add(&frame.Op{Kind: frame.Request, Caller: 1, Serial: 300, Floor: 299,
		Answers: (&frame.Answer{Took: []bool{true}, Value: "value"}).Append(nil)})
	w.Add(&frame.Op{Kind: frame.Set, Key: []byte("b"), Value: []byte("2")})
	b, _ := w.Finish()
	r, c := newReplayed(), new(chain)
	require.NoError(t, r.frame(c, b))
	require.Empty(t, c.problems)
	require.Len(t, r.timers, 2)
	require.Empty(t, r.lost)
}

// The last error of a timer is that of the last attempt that has failed, until the timer is changed or a run succeeds.
func TestLastErrors(t *testing.T) {
	r, c := newReplayed(), new(chain)
	number, id := uint64(0), frame.ID{Owner: 1}
	a := []byte("a")
	write := func(op frame.Op) state.Extra {
		var w frame.Builder
		number++
		w.Start(frame.Header{Number: number, Owner: 1, Time: int64(number)})
		if op.Key, op.ID = a, id; op.Kind == frame.Next {
			op.Ended = id.Number
		}
		id = w.Add(&op)
		b, _ := w.Finish()
		require.NoError(t, r.frame(c, b))
		require.NotNil(t, r.timers["a"])
		return r.timers["a"].Extra
	}
	fail := func(text string) state.Extra {
		return write(frame.Op{Kind: frame.Fail, Attempt: 1, More: frame.More{Error: []byte(text)}})
	}
	write(frame.Op{Kind: frame.SetAt, More: frame.More{Schedule: []byte("daily")}})
	daily := state.Extra{Schedule: "daily"}
	require.Equal(t, state.Extra{Schedule: "daily", LastError: "one", Failed: 2}, fail("one"))
	require.Equal(t, state.Extra{Schedule: "daily", LastError: "one", Failed: 2}, fail(""))
	require.Equal(t, state.Extra{Schedule: "daily", LastError: "two", Failed: 4},
		write(frame.Op{Kind: frame.Next, How: frame.Died, More: frame.More{Error: []byte("two")}}))
	require.Equal(t, state.Extra{Schedule: "daily", LastError: "two", Failed: 4}, write(frame.Op{Kind: frame.Next, How: frame.Skipped}))
	require.Equal(t, daily, write(frame.Op{Kind: frame.Next}))
	fail("three")
	require.Equal(t, daily, write(frame.Op{Kind: frame.Move}))
	write(frame.Op{Kind: frame.Die, Attempt: 2, More: frame.More{Error: []byte("four")}})
	require.Equal(t, daily, write(frame.Op{Kind: frame.Revive}))
	require.Empty(t, c.problems)
}

// Runs of a schedule, and what is said of the dead.
func TestSchedulesAndDeaths(t *testing.T) {
	r, c := newReplayed(), new(chain)
	write := func(number uint64, ops ...frame.Op) {
		var w frame.Builder
		w.Start(frame.Header{Number: number, Owner: 1, Time: int64(number)})
		for i := range ops {
			w.Add(&ops[i])
		}
		b, _ := w.Finish()
		require.NoError(t, r.frame(c, b))
	}
	a, b, gone := []byte("a"), []byte("b"), []byte("gone")
	write(1,
		frame.Op{Kind: frame.SetAt, Key: a, Due: 10, More: frame.More{Schedule: []byte("daily"), Trace: []byte("t")}},
		frame.Op{Kind: frame.Set, Key: b, Due: 20})
	write(2, frame.Op{Kind: frame.Start, Key: a, ID: frame.ID{Number: 1 << 12}, Moved: true, Due: 12, More: frame.More{Missed: 3}},
		frame.Op{Kind: frame.Die, Key: b, ID: frame.ID{Number: 1<<12 | 1}, Attempt: 4, More: frame.More{Error: []byte("why")}})
	require.Equal(t, &Timer{Timer: state.Timer{Key: "a", Due: 12, Wall: true, ID: frame.ID{Owner: 1, Number: 1 << 12},
		Extra: state.Extra{Schedule: "daily", Trace: "t", Missed: 3, Started: true}}}, r.timers["a"])
	require.Equal(t, &Timer{Timer: state.Timer{Key: "b", Due: 20, Attempt: 4, ID: frame.ID{Owner: 1, Number: 1<<12 | 1},
		Dead: true, Extra: state.Extra{Failed: 2, LastError: "why"}}}, r.timers["b"])
	write(3, frame.Op{Kind: frame.Next, Key: a, Ended: 1 << 12, Due: 14},
		frame.Op{Kind: frame.Next, Key: gone, Ended: 5, Due: 14},
		frame.Op{Kind: frame.Expire, Key: b, ID: frame.ID{Number: 1<<12 | 1}})
	require.Equal(t, &Timer{Timer: state.Timer{Key: "a", Due: 14, Wall: true, ID: frame.ID{Owner: 1, Number: 3 << 12},
		Extra: state.Extra{Schedule: "daily", Trace: "t"}}}, r.timers["a"])
	require.Len(t, r.timers, 1)
	require.Equal(t, map[string]uint64{"gone": 3}, r.lost)
	require.Empty(t, c.problems)
}
