package linear

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// plain commits a call without any thought, and reports whether its answer is true then: any is, of a call without one.
func plain(s Output, c *Call) (bool, Output) {
	in, out := c.Input, c.Output
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
	case frame.Remove:
		return out.Unknown || out == s, Output{}
	}
	return out.Unknown || out == s, s
}

// checkPlainly tries every order of a few calls for a key, with and without those that have no answer.
func checkPlainly(calls []Call) bool {
	type place struct {
		done int // a bit for each call
		now  Output
	}
	failed := map[place]bool{}
	var from func(p place) bool
	from = func(p place) bool {
		if failed[p] {
			return false
		}
		failed[p] = true
		rest := false
		ended := int64(math.MaxInt64) // when the first of the others did
		for i, c := range calls {
			if p.done&(1<<i) == 0 && !c.Output.Unknown {
				rest, ended = true, min(ended, c.Ended)
			}
		}
		for i := range calls {
			if p.done&(1<<i) != 0 || calls[i].Begun > ended {
				continue
			}
			if ok, now := plain(p.now, &calls[i]); ok && from(place{p.done | 1<<i, now}) {
				return true
			}
		}
		return !rest
	}
	return from(place{})
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
		_, after := plain(now, c)
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
		now = after
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

// What is written of a history without an order shows how far one goes.
func TestWrite(t *testing.T) {
	set := Call{Input: Input{Kind: frame.Set, Key: "a", Value: "1"}, Begun: 1, Ended: 2, Output: Output{OK: true}}
	get := Call{Caller: 7, Input: Input{Key: "a"}, Begun: 3, Ended: 4, Output: Output{OK: true, Value: "2"}}
	name := filepath.Join(t.TempDir(), "history.txt")
	require.NoError(t, Check([]Call{get, set}, 0).Write(name))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^ +1  from 1 to 2, caller 0: \{Kind:set .* Value:1\}: `, lines[0])
	require.Regexp(t, `^ +from 3 to 4, caller 7: `, lines[1])
}
