package salvage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// history is a random log that an owner could have written, and the state that the owner had.
type history struct {
	random *rand.Rand
	truth  *state.State
	frames [][]byte
	last   frame.Header
	sum    uint32
	values int
}

func newHistory(seed uint64, frames int) *history {
	h := &history{random: rand.New(rand.NewPCG(seed, 0)), truth: state.New(), last: frame.Header{Begin: 1, Owner: 7}}
	h.truth.Build()
	for range frames {
		h.write()
	}
	return h
}

// write writes a frame, with at most one operation for each key.
func (h *history) write() {
	h.last.Number, h.last.Time, h.last.Previous = h.last.Number+1, h.last.Time+1000, h.sum
	var w frame.Builder
	w.Start(h.last)
	for k := range 6 {
		key := fmt.Appendf(nil, "k%d", k)
		if h.random.IntN(3) == 0 {
			op := h.op(key)
			w.Add(&op)
		}
	}
	if h.random.IntN(15) == 0 {
		w.Add(&frame.Op{Kind: frame.Close})
	}
	b, sum := w.Finish()
	h.frames, h.sum = append(h.frames, slices.Clone(b)), sum
	f, err := frame.Parse(b)
	if err == nil {
		for op, bad := range f.Ops() {
			if err = bad; err == nil {
				err = h.truth.Apply(&f.Header, op)
			}
			if err != nil {
				panic(err)
			}
		}
	}
}

// op returns an operation that makes sense for a key.
func (h *history) op(key []byte) frame.Op {
	t, ref, ok := h.truth.Find(key)
	kinds := []frame.Kind{frame.Set, frame.SetAt, frame.Import}
	switch {
	case ok && t.Dead:
		kinds = append(kinds, frame.Revive, frame.Expire, frame.Remove, frame.Keep)
	case ok:
		kinds = append(kinds, frame.Move, frame.MoveAt, frame.Remove, frame.End, frame.Begin, frame.Fail, frame.Die, frame.Keep)
		if t.Schedule != "" {
			kinds = append(kinds, frame.Next, frame.Next, frame.Start, frame.Pause, frame.Resume)
		}
	}
	h.values++
	now := h.last.Time
	op := frame.Op{Kind: kinds[h.random.IntN(len(kinds))], Key: key, ID: t.ID, Due: now + h.random.Int64N(1e6),
		Attempt: t.Attempt + 1, Next: now + h.random.Int64N(1e6), Value: fmt.Append(nil, h.values)}
	switch op.Kind {
	case frame.Set:
		op.Debounced, op.Since = h.random.IntN(2) == 0, now-h.random.Int64N(1e6)
	case frame.SetAt:
		op.Schedule = []byte("@daily")
	case frame.Import:
		op.ID = frame.ID{Owner: 99, Number: h.random.Uint64()}
	case frame.Keep:
		op, _ = h.truth.Keep(ref, nil)
	case frame.Begin:
		op.Name = uint64(h.random.IntN(2))
	case frame.Fail:
		if h.random.IntN(2) == 0 {
			op.Error = fmt.Append(nil, "failure ", h.values)
		}
	case frame.Next:
		op.Ended, op.How = t.ID.Number, []frame.How{frame.Returned, frame.Died, frame.Skipped}[h.random.IntN(3)]
		if op.How == frame.Died && h.random.IntN(2) == 0 {
			op.Error = fmt.Append(nil, "death ", h.values)
		}
	case frame.Resume:
		op.Moved = h.random.IntN(2) == 0
	case frame.Start:
		op.Moved, op.Missed = true, uint32(h.random.IntN(3))
	case frame.Die:
		op.Error = []byte("why")
	}
	return op
}

// salvaged returns the timers by key that are read of some files.
func (h *history) salvaged(t *testing.T, data []byte) (map[string]*Timer, *Log) {
	dir := t.TempDir()
	of := &files{[]string{filepath.Join(dir, "segment")}, filepath.Join(dir, "mark")}
	require.NoError(t, os.WriteFile(of.segments[0], data, 0o600))
	mark := storage.Mark{Number: h.last.Number, Checksum: h.sum}
	require.NoError(t, os.WriteFile(of.mark, mark.Encode(), 0o600))
	l, err := read(of)
	require.NoError(t, err)
	timers := make(map[string]*Timer)
	for _, one := range l.Timers {
		timers[one.Key] = one
	}
	return timers, l
}

// damaged returns the bytes of the log after a random damage.
func (h *history) damaged() []byte {
	frames := slices.Clone(h.frames)
	if h.random.IntN(2) == 0 {
		from := h.random.IntN(len(frames))
		frames = slices.Delete(frames, from, min(len(frames), from+1+h.random.IntN(4)))
	}
	data := slices.Concat(frames...)
	for h.random.IntN(2) == 0 {
		data[h.random.IntN(len(data))] ^= 1 << h.random.IntN(8)
	}
	if h.random.IntN(3) == 0 {
		data = data[:h.random.IntN(len(data))]
	}
	return data
}

// Whatever is damaged: a timer that is read either is what it was, or is uncertain.
func TestRandomDamage(t *testing.T) {
	certain, uncertain := 0, 0
	for seed := range uint64(60) {
		h := newHistory(seed, 30)
		whole, l := h.salvaged(t, slices.Concat(h.frames...))
		require.Empty(t, l.Problems)
		require.Len(t, whole, h.truth.Len()+h.truth.Dead())
		for k, one := range whole {
			h.requireTrue(t, k, one)
		}
		for range 20 {
			data := h.damaged()
			found, l := h.salvaged(t, data)
			if len(l.Problems) == 0 {
				require.Len(t, found, len(whole))
			}
			for k, one := range found {
				if one.Uncertain {
					require.NotEmpty(t, l.Problems)
					uncertain++
					continue
				}
				require.Contains(t, whole, k, "seed %d", seed)
				require.Equal(t, whole[k].Timer, one.Timer, "seed %d", seed)
				if len(l.Problems) > 0 {
					certain++
				}
			}
		}
	}
	require.Greater(t, certain, 500)
	require.Greater(t, uncertain, 500)
}

// requireTrue compares a timer with what the owner would export. The time of the next attempt is not compared, since the
// owner counts those that are due, but an attempt that goes on has none.
func (h *history) requireTrue(t *testing.T, key string, one *Timer) {
	_, ref, ok := h.truth.Find([]byte(key))
	require.True(t, ok)
	want := h.truth.Logged(ref)
	require.False(t, one.Uncertain)
	got := one.Timer
	require.True(t, !got.Running || got.Next == 0)
	got.Home, got.Next = want.Home, want.Next
	require.Equal(t, want, got)
}
