package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// allExported returns all timers by key, as a snapshot at this moment must have them.
func allExported(s *State) map[string]Timer {
	all := map[string]Timer{}
	for i := uint32(1); i < s.records.next; i++ {
		if s.records.has(i) && s.records.at(i).state != free {
			t := s.Logged(Ref(i))
			all[t.Key] = t
		}
	}
	return all
}

// randomChange makes a random change of the state.
func randomChange(t *testing.T, r *rand.Rand, s *State, number uint64) {
	h := &frame.Header{Number: number, Time: int64(number)}
	key := fmt.Appendf(nil, "%d", r.IntN(60))
	id := frame.ID{Owner: 1, Number: number << 16}
	op := frame.Op{Kind: frame.Set, Key: key, Value: []byte("v"), ID: id, Due: h.Time + r.Int64N(40)}
	was, ref, ok := s.Find(key)
	switch n := r.IntN(11); {
	case n == 0 && ok && !was.Dead:
		op.Kind = frame.Move
	case n == 1:
		op.Kind = frame.Remove
	case n == 2:
		op.Kind, op.Attempt, op.Next, op.Schedule = frame.Import, 1, h.Time+3, []byte("@daily")
	case n == 3 && ok && !was.Dead:
		op.Kind, op.ID, op.Attempt, op.Next, op.Error = frame.Fail, was.ID, was.Attempt+1, h.Time+5, []byte("not yet")
	case n == 4 && ok && !was.Dead:
		op.Kind, op.ID, op.Attempt, op.Error = frame.Die, was.ID, was.Attempt+1, []byte("no")
	case n == 5 && ok && was.Dead:
		op.Kind, op.ID = frame.Revive, was.ID
	case n == 6 && ok && !was.Dead:
		op.Kind, op.ID = frame.End, was.ID
	case n == 7:
		if d, ok := s.Pop(h.Time, h.Time); ok && r.IntN(2) == 0 {
			id := s.Timer(d.Ref).ID
			s.Start(d.Ref, id)
			if r.IntN(3) == 0 {
				s.Hold(d.Ref, id)
			}
		}
		return
	case n == 8 && ok && s.IsRunning(ref, was.ID):
		op.Kind, op.ID, op.Attempt = frame.Begin, was.ID, was.Attempt+1
	case n == 9 && ok && !was.Dead: // the attempt is left
		op.Kind, op.ID, op.Attempt, op.Name, op.Next = frame.Begin, was.ID, was.Attempt+1, number, h.Time+5
	case n == 10 && ok && !was.Dead && was.Attempt == 0: // postponed
		op.Kind, op.ID, op.Next = frame.Fail, was.ID, h.Time+5
	}
	require.NoError(t, s.Apply(h, &op))
}

// Snapshots have the timers as they were, whatever changes while they are read.
func TestSnapshots(t *testing.T) {
	type reading struct {
		*Snapshot
		want, got map[string]Timer
	}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := New()
		s.Build()
		s.Own(0, 0)
		var open []*reading
		for number := uint64(1); number < 3000; number++ {
			randomChange(t, r, s, number)
			if len(open) < 3 && r.IntN(100) == 0 {
				open = append(open, &reading{s.Snapshot(), allExported(s), map[string]Timer{}})
			}
			if len(open) == 0 || r.IntN(3) > 0 {
				continue
			}
			n := open[r.IntN(len(open))]
			if n.Take(1+r.IntN(3), func(x Timer) {
				require.NotContains(t, n.got, x.Key)
				n.got[x.Key] = x
			}) {
				continue
			}
			for _, of := range []map[string]Timer{n.want, n.got} { // trimming writes timers again
				for k, x := range maps.All(of) {
					x.Home = 0
					of[k] = x
				}
			}
			require.Equal(t, n.want, n.got, "seed %d, at %d", seed, number)
			require.Empty(t, n.aside)
			n.Close()
			kept := open[:0]
			for _, o := range open {
				if o != n {
					kept = append(kept, o)
				}
			}
			open = kept
		}
		for _, n := range open {
			n.Close()
		}
		require.Empty(t, s.snapshots)
		require.Zero(t, s.records.pinned)
	}
}

// An attempt that was left and goes on does not count in a snapshot, whenever that is read: before its time is over, or
// after. Then it counts, as it has failed.
func TestSnapshotOfALeftAttempt(t *testing.T) {
	s := New()
	s.Build()
	s.Own(0, 0)
	h, id := &frame.Header{Number: 1}, frame.ID{Owner: 1, Number: 1}
	require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: []byte("k"), ID: id}))
	require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Begin, Key: []byte("k"), ID: id, Attempt: 3, Name: 9, Next: 10}))
	take := func(n *Snapshot) (got Timer) {
		n.Take(10, func(x Timer) { got = x })
		n.Close()
		return got
	}
	now, later := s.Snapshot(), s.Snapshot()
	got := take(now)
	require.EqualValues(t, 2, got.Attempt)
	require.True(t, got.Running)
	require.Zero(t, got.Next)
	_, ok := s.Pop(10, 10)
	require.True(t, ok)
	require.Equal(t, got, take(later))
	got = take(s.Snapshot())
	require.EqualValues(t, 3, got.Attempt)
	require.False(t, got.Running)
}
