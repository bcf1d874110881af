package linear

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// plain is the model without any thought: a call without an answer is an operation that may have any answer,
// and that may come after all others.
var plain = porcupine.Model{
	Init: func() any { return Output{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(Output), input.(Input), output.(Output)
		switch in.Kind {
		case frame.Set, frame.SetAt:
			now := Output{OK: true, Value: in.Value}
			switch {
			case in.Absent && s.OK:
				return out.Unknown || !out.OK && out.Value == s.Value, s
			case in.Swap:
				return out.Unknown || out == s, now
			}
			return out.Unknown || out.OK, now
		case frame.Move:
			return out.Unknown || out == s, s
		case frame.Remove:
			return out.Unknown || out == s, Output{}
		}
		return out.Unknown || out == s, s
	},
}

func checkPlainly(calls []Call) bool {
	var all []porcupine.Operation
	for _, c := range calls {
		if c.Output.Unknown {
			c.Ended = math.MaxInt64
		}
		all = append(all, porcupine.Operation{ClientId: c.Caller, Input: c.Input, Call: c.Begun, Output: c.Output, Return: c.Ended})
	}
	return porcupine.CheckOperations(plain, all)
}

// guess makes calls for one key, with the answers of one order, of which some are lost, and one may be wrong.
func guess(r *rand.Rand) []Call {
	calls := make([]Call, 1+r.IntN(10))
	points := make(map[*Call]int) // when those are committed that are
	for i := range calls {
		c := &calls[i]
		at := r.IntN(20)
		*c = Call{Caller: i, Begun: int64(at - r.IntN(6)), Ended: int64(at + r.IntN(6))}
		c.Input = Input{Kind: []frame.Kind{0, frame.Set, frame.SetAt, frame.Move, frame.Remove}[r.IntN(5)], Key: "k"}
		if k := c.Input.Kind; k == frame.Set || k == frame.SetAt {
			c.Input.Value = fmt.Sprint(r.IntN(6))
			switch r.IntN(4) {
			case 0:
				c.Input.Absent, c.Input.Value = true, fmt.Sprint(100+i) // that of each is another
			case 1:
				c.Input.Swap = true
			}
		}
		c.Output.Unknown = r.IntN(3) == 0
		if !c.Output.Unknown || r.IntN(2) == 0 {
			points[c] = at
		}
	}
	answer(points)
	if c := &calls[r.IntN(len(calls))]; r.IntN(3) == 0 && !c.Output.Unknown {
		c.Output.OK = !c.Output.OK
		if c.Output.Value = fmt.Sprint(r.IntN(6)); !c.Input.shows(c.Output) {
			c.Output.Value = ""
		}
	}
	return calls
}

// answer commits calls at their times, and answers them.
func answer(points map[*Call]int) {
	order := slices.SortedFunc(maps.Keys(points), func(a, b *Call) int {
		return cmp.Or(cmp.Compare(points[a], points[b]), cmp.Compare(a.Caller, b.Caller))
	})
	var now Output
	for _, c := range order {
		_, after := plain.Step(now, c.Input, Output{Unknown: true})
		if out := &c.Output; !out.Unknown {
			switch *out = now; c.Input.Kind {
			case frame.Set, frame.SetAt:
				switch {
				case c.Input.Absent && now.OK:
					out.OK = false
				case !c.Input.Swap:
					*out = Output{OK: true}
				}
			}
		}
		now = after.(Output)
	}
}

// Check finds an order where the plain model does.
func TestCheckAgainstThePlainModel(t *testing.T) {
	var legal, illegal int
	for seed := range uint64(20_000) {
		calls := guess(rand.New(rand.NewPCG(seed, 0)))
		want := checkPlainly(calls)
		got := Check(calls, 0)
		require.Equal(t, want, got.OK, "seed %d: %+v", seed, calls)
		require.Equal(t, !want, got.Illegal, "seed %d", seed)
		if want {
			legal++
		} else {
			illegal++
		}
	}
	require.Greater(t, legal, 2000)
	require.Greater(t, illegal, 2000)
}

// The keys of a history have orders of their own.
func TestKeysAreApart(t *testing.T) {
	set := Call{Input: Input{Kind: frame.Set, Key: "a", Value: "1"}, Begun: 1, Ended: 2, Output: Output{OK: true}}
	get := Call{Input: Input{Key: "a"}, Begun: 3, Ended: 4, Output: Output{OK: true, Value: "1"}}
	other := get
	other.Input.Key = "b"
	require.True(t, Check([]Call{set, get}, 0).OK)
	require.True(t, Check([]Call{set, get, other}, 0).Illegal)
}

// What follows a call without an answer that was committed ends after that began.
func TestCallWithoutAnAnswerBegins(t *testing.T) {
	set := Call{Input: Input{Kind: frame.Set, Value: "v"}, Begun: 1, Ended: 2, Output: Output{OK: true}}
	for _, kind := range []frame.Kind{frame.Set, frame.Remove} {
		for begun, want := range map[int64]bool{7: true, 8: true, 9: false, 12: false, 13: false} {
			lost := Call{Input: Input{Kind: kind}, Begun: begun, Output: Output{Unknown: true}}
			long := Call{Input: Input{Kind: frame.Move}, Begun: 5, Ended: 12, Output: Output{OK: kind == frame.Set}}
			short := long
			short.Begun, short.Ended = 6, 8
			calls := []Call{lost, long, short}
			if kind == frame.Remove {
				calls = append(calls, set)
			}
			require.Equal(t, want, Check(calls, 0).OK, "%v at %d", kind, begun)
		}
	}
}

// Hundreds of calls without an answer do not make an order harder to find, nor its absence.
func TestManyCallsWithoutAnAnswer(t *testing.T) {
	var calls []Call
	now := int64(0)
	call := func(kind frame.Kind, out Output) {
		calls = append(calls, Call{Input: Input{Kind: kind, Value: fmt.Sprint(now)}, Begun: now, Ended: now + 5, Output: out})
		now += 10
	}
	for range 300 {
		for range 3 {
			call(frame.Set, Output{Unknown: true})
			call(frame.Remove, Output{Unknown: true})
		}
		call(frame.Move, Output{OK: true})
		call(frame.Move, Output{OK: false})
		call(frame.Move, Output{Unknown: true})
		call(0, Output{Unknown: true})
	}
	require.True(t, Check(calls, 10*time.Minute).OK)
	call(0, Output{OK: true, Value: "nobody has set it"})
	require.True(t, Check(calls, 10*time.Minute).Illegal)
}
