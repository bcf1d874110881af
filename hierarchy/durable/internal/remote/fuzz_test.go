package remote

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// sample is a message with all kinds of operations, and what is read of it after a second.
func sample() (message []byte, want *core.Call) {
	want = new(core.Call)
	id := core.RequestID{Caller: math.MaxUint64, Serial: 300, Floor: 298}
	parts := [][]core.Op{
		{{Kind: frame.Set, Key: []byte("a"), Value: []byte("1"), In: time.Hour}, {Kind: frame.SetAt, Key: []byte{}, Value: []byte{}, Due: math.MinInt64}},
		{{Kind: frame.Move, Key: []byte("b"), In: math.MinInt64, By: 1 << 63}, {Kind: frame.Remove, Key: []byte("c")}, {Kind: frame.Revive, Key: []byte("d")},
			{Kind: frame.Pause, Key: []byte("d")}, {Kind: frame.Resume, Key: []byte("d"), By: 1}},
		{{Kind: frame.MoveAt, Whole: true, Key: []byte("m"), Due: 5}, {Kind: frame.SetAt, If: core.IfSooner, Whole: true, Key: []byte("n"), Value: []byte("v"), Due: 6},
			{Kind: frame.Set, If: core.IfLater, Whole: true, By: 1, Key: []byte("e"), Value: []byte{}, In: math.MinInt64}, {Kind: frame.Remove, Whole: true, Key: []byte("f")}},
		{{Kind: frame.SetAt, Schedule: []byte("@daily"), Trace: []byte("t"), Key: []byte("g"), Value: []byte("v")},
			{Kind: frame.Set, Trace: make([]byte, core.MaxTrace), Key: []byte("h"), Value: []byte{}, In: math.MinInt64},
			{Kind: frame.Set, Trace: make([]byte, core.MaxTrace), Key: []byte("h"), Value: []byte{}, In: math.MinInt64, Quiet: math.MaxInt64, Longest: math.MaxInt64, By: 1},
			{Kind: frame.Set, Key: []byte("h"), Value: []byte{}, In: math.MinInt64, Longest: 1}},
		{{Kind: frame.Import, Key: []byte("i"), Value: []byte("v"), Timer: &state.Timer{ID: frame.ID{Owner: 1, Number: math.MaxUint64}, Due: -1, Attempt: 2, Next: 3, Dead: true,
			Extra: state.Extra{Schedule: "@daily", LastError: "no", Failed: 4}}}},
	}
	for how := range core.Hows {
		e := &core.Ending{Name: math.MaxUint64, Attempt: state.MaxCount, How: how}
		if how != core.Done {
			e.Text = strings.Repeat("e", core.MaxError)
		}
		if how == core.Retry || how == core.Postpone {
			e.In = math.MinInt64
		}
		parts = append(parts, []core.Op{{Kind: frame.End, Key: []byte("j"), Ending: e}})
	}
	message = startOps(nil, id, len(parts))
	want.Request = id
	for _, ops := range parts {
		message = appendPart(message, ops, time.Minute)
		want.Ops = append(want.Ops, ops...)
		want.Parts = append(want.Parts, core.Part{End: len(want.Ops)})
	}
	setAge(message, time.Second, partition.Moment{})
	want.Ops[0].In -= 61 * time.Second
	return message, want
}

// What is written is read, and nothing of it can be left out.
func TestMessages(t *testing.T) {
	message, want := sample()
	k, body, err := readKind(message)
	body = body[momentSize:]
	require.NoError(t, err)
	require.Equal(t, opsKind, k)
	var call core.Call
	require.NoError(t, readOps(body, 0, &call))
	require.Equal(t, want, &call)
	for n := range body {
		require.Error(t, readOps(body[:n], 0, new(core.Call)), n)
	}
	require.Error(t, readOps(append(body, 0), 0, new(core.Call)))
	size := 0
	for i, from := 0, 0; i < len(want.Parts); i++ {
		size += partSize(want.Ops[from:want.Parts[i].End])
		from = want.Parts[i].End
	}
	require.LessOrEqual(t, len(message), size+headers)
	message[0] = Version + 1
	_, _, err = readKind(message)
	require.ErrorIs(t, err, errVersion)
	_, _, err = readKind(nil)
	require.Error(t, err)
}

// Operations that no caller may ask for, and keys that no record has room for, are refused.
func TestInvalidMessages(t *testing.T) {
	for name, ask := range map[string]core.Op{
		"a handler's": {Kind: frame.Begin, Key: []byte("a")}, "no kind": {Key: []byte("a")},
		"a long key": {Kind: frame.Remove, Key: make([]byte, 1<<16)}, "a whole Pause": {Kind: frame.Pause, Whole: true}, "a condition for a Remove": {Kind: frame.Remove, If: core.IfAbsent},
		"a condition for a Move": {Kind: frame.Move, If: core.IfAbsent}, "a condition for a Revive": {Kind: frame.Revive, If: core.IfAbsent},
		"a schedule of a Set": {Kind: frame.Set, Schedule: []byte("@daily")}, "a trace of a Move": {Kind: frame.Move, Trace: []byte("t")},
		"a debounced Move":              {Kind: frame.Move, Longest: 1},
		"a negative quiet":              {Kind: frame.Set, Quiet: -1, Longest: 1},
		"a long schedule":               {Kind: frame.SetAt, Schedule: make([]byte, core.MaxSchedule+1)},
		"a long trace":                  {Kind: frame.Set, Trace: make([]byte, core.MaxTrace+1)},
		"an end of no attempt":          {Kind: frame.End, Ending: &core.Ending{Attempt: 1}},
		"an end of attempt 0":           {Kind: frame.End, Ending: &core.Ending{Name: 1}},
		"an end of too many attempts":   {Kind: frame.End, Ending: &core.Ending{Name: 1, Attempt: state.MaxCount + 1}},
		"an unknown end":                {Kind: frame.End, Ending: &core.Ending{Name: 1, Attempt: 1, How: core.Hows}},
		"a long error":                  {Kind: frame.End, Ending: &core.Ending{Name: 1, Attempt: 1, How: core.Failed, Text: strings.Repeat("e", core.MaxError+1)}},
		"a timer with a key of its own": {Kind: frame.Import, Timer: &state.Timer{Key: "k"}},
	} {
		b := appendPart(startOps(nil, core.RequestID{Caller: 1, Serial: 1}, 1), []core.Op{ask}, 0)
		require.ErrorIs(t, readOps(b[atAge:], 0, new(core.Call)), errMessage, name)
	}
	many := appendPart(startOps(nil, core.RequestID{Caller: 1, Serial: 1}, 1), make([]core.Op, core.MaxOps+1), 0)
	require.ErrorIs(t, readOps(many[atAge:], 0, new(core.Call)), errMessage)
	nobody := appendPart(startOps(nil, core.RequestID{Serial: 1}, 1), []core.Op{removeOp("a")}, 0)
	require.ErrorIs(t, readOps(nobody[atAge:], 0, new(core.Call)), errMessage)
}

// FuzzOps: whatever is read, it takes no more memory than some times the message, and is read
// again from what is written of it.
func FuzzOps(f *testing.F) {
	message, _ := sample()
	f.Add(message[atAge:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var call core.Call
		err := readOps(b, 0, &call)
		require.LessOrEqual(t, len(call.Ops), len(b)/2)
		require.LessOrEqual(t, len(call.Parts), len(b))
		if err != nil {
			return
		}
		message := startOps(nil, call.Request, len(call.Parts))
		from := 0
		for _, p := range call.Parts {
			message = appendPart(message, call.Ops[from:p.End], 0)
			from = p.End
		}
		var same core.Call
		require.NoError(t, readOps(message[atAge:], 0, &same))
		require.Equal(t, &call, &same)
	})
}

// FuzzAnswer: the same for answers of all kinds.
func FuzzAnswer(f *testing.F) {
	timer := state.Timer{Key: "a", Value: "b", ID: frame.ID{Owner: 1, Number: 2}, Due: -1, Attempt: math.MaxUint32, Wall: true, Dead: true}
	cursor := appendCursor(startAnswer(nil, done), partition.Cursor{Epoch: 1, Next: 2, Limit: math.MaxUint32})
	f.Add(timer.Append(cursor))
	f.Add(appendFound(startAnswer(nil, done), found{"value", time.Hour, true}))
	f.Add(appendFailure(nil, partition.ErrDamaged))
	answered := core.Call{Ops: []core.Op{{Kind: frame.Set, Due: 3}}, Took: []bool{true}, Origin: core.Origin{Time: 2}}
	f.Add(appendDone(nil, &answered))
	f.Add(append(appendDone(nil, &core.Call{}), (&frame.Answer{Took: []bool{true}, Value: "value"}).Append(nil)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		body, _, err := readAnswer(b)
		if err != nil {
			require.LessOrEqual(t, len(err.Error()), len(b)+200)
			return
		}
		if got, err := readFound(body); err == nil {
			require.LessOrEqual(t, len(got.value), len(b))
			again, err := readFound(appendFound(nil, got))
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
		requireTimers(t, body)
		for n := range 3 {
			call, in := core.Call{Ops: make([]core.Op, n)}, newCutter(body)
			from := in.origin()
			if rest, err := call.TakeAnswer(in.B, from); err == nil {
				require.LessOrEqual(t, len(strings.Join(call.Values, ""))+len(rest), len(b))
			}
		}
	})
}

// requireTimers finds that the timers of a page are read again from what is written of them.
func requireTimers(t *testing.T, body []byte) {
	c := newCutter(body)
	at := c.cursor()
	for len(c.B) > 0 {
		timer := state.ReadTimer(&c.Reader)
		if c.Failed {
			break
		}
		again := newCutter(timer.Append(appendCursor(nil, at)))
		require.Equal(t, at, again.cursor())
		require.Equal(t, timer, state.ReadTimer(&again.Reader))
		require.NoError(t, again.end())
		require.Less(t, len(timer.Append(nil)), timer.Size())
	}
}
