package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

const keepDead = 500

// model is what a State must be, as a map. Times are small numbers.
type model struct {
	rand   *rand.Rand
	state  *State
	timers map[string]Timer
	until  map[string]int64 // when those that wait are due
	left   map[string]uint64
	number uint64 // of the frame
	ids    uint64
}

// Operations of all kinds, against a map. What is read back from what trimming writes is the same.
func TestModel(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := &model{rand: rand.New(rand.NewPCG(seed, 1)), timers: map[string]Timer{}, until: map[string]int64{}, left: map[string]uint64{}}
			m.state = New()
			m.state.SetKeepDead(keepDead)
			if seed%2 == 0 {
				m.state.Build()
			}
			for range 3000 {
				m.step(t)
			}
			if !m.state.Built() {
				m.state.Build()
			}
			m.compare(t, m.state)
			m.compare(t, m.again(t))
		})
	}
}

func (m *model) step(t *testing.T) {
	m.number++
	h := frame.Header{Number: m.number, Time: int64(m.number), Owner: 9}
	key := fmt.Sprint(m.rand.IntN(20))
	was, there := m.timers[key]
	m.ids++
	op := frame.Op{Kind: frame.Kind(1 + m.rand.IntN(int(frame.Resume))), Key: []byte(key), Due: int64(m.rand.IntN(1000)), ID: was.ID}
	now, until := was, m.until[key]
	switch op.Kind {
	case frame.Set, frame.SetAt:
		m.set(&op, &now, &until, &h)
	case frame.Move:
		if was.Dead {
			return
		}
		op.ID = frame.ID{Owner: 9, Number: m.ids}
		now.ID, now.Due, now.Wall, now.Attempt, now.Started, until = op.ID, op.Due, false, 0, false, op.Due
		now.Debounced, now.Since = false, 0
		now.LastError, now.Failed = "", 0
	case frame.Remove:
	case frame.End:
	case frame.Begin:
		op.Attempt, op.Next, op.Name = was.Attempt+1, int64(m.rand.IntN(1000)), m.ids
		now.Attempt, until = op.Attempt, op.Next
	case frame.Fail: // of an attempt that counts, or does not
		op.Attempt, op.Next = was.Attempt+uint32(m.rand.IntN(2)), int64(m.rand.IntN(1000))
		now.Attempt, until = op.Attempt, op.Next
		if op.Attempt > 0 {
			now.Debounced, now.Since = false, 0
		}
		if m.rand.IntN(3) > 0 {
			op.Error = []byte(m.text("error"))
			now.LastError, now.Failed = string(op.Error), h.Time
		}
	case frame.Die:
		op.Attempt, op.Error = was.Attempt+1, []byte(m.text("error"))
		now.Attempt, now.Dead, now.LastError, now.Failed = op.Attempt, true, string(op.Error), h.Time
		now.Debounced, now.Since, now.Paused = false, 0, false
	case frame.Revive:
		now.Attempt, now.Dead, now.LastError, now.Failed, now.Wall, now.Due, until = 0, false, "", 0, false, op.Due, op.Due
	case frame.Next:
		op.Ended, op.ID = was.ID.Number, frame.ID{Owner: 9, Number: m.ids}
		now.ID, now.Due, now.Wall, now.Attempt, now.Missed, now.Started, until = op.ID, op.Due, true, 0, 0, false, op.Due
		switch op.How = frame.How(m.rand.IntN(3)); op.How {
		case frame.Returned:
			now.LastError, now.Failed = "", 0
		case frame.Died:
			op.Error = []byte(m.text("error"))
			now.LastError, now.Failed = string(op.Error), h.Time
		}
	case frame.Start:
		if now.Started = true; m.rand.IntN(2) == 0 {
			op.Moved, op.Missed = true, uint32(m.rand.IntN(3))
			if now.Missed, now.Due, now.Wall = op.Missed, op.Due, true; now.Attempt == 0 {
				until = op.Due
			}
		}
	case frame.Expire:
	case frame.Pause:
		now.Paused = true
	case frame.Resume:
		if now.Paused = false; m.rand.IntN(2) == 0 {
			op.Moved, op.ID = true, frame.ID{Owner: 9, Number: m.ids}
			now.ID, now.Due, now.Wall, now.Attempt, now.Missed, now.Started, until = op.ID, op.Due, true, 0, 0, false, op.Due
		}
	default:
		return
	}
	err := m.state.Apply(&h, &op)
	isPause := op.Kind == frame.Pause || op.Kind == frame.Resume
	switch {
	case !there && op.Kind > frame.SetAt:
		require.NoError(t, err)
		return
	case op.Kind <= frame.Remove:
	case was.Dead != (op.Kind == frame.Revive || op.Kind == frame.Expire),
		was.Schedule == "" && (op.Kind == frame.Next || op.Kind == frame.Start || isPause):
		require.ErrorIs(t, err, errSense)
		return
	}
	require.NoError(t, err)
	m.timers[key], m.until[key] = now, until
	if op.Kind != frame.Start && (!isPause || op.Moved) {
		m.left[key] = op.Name
	}
	if op.Kind == frame.Remove || op.Kind == frame.End || op.Kind == frame.Expire {
		delete(m.timers, key)
		delete(m.until, key)
	}
}

func (m *model) set(op *frame.Op, now *Timer, until *int64, h *frame.Header) {
	op.ID, op.Wall = frame.ID{Owner: 9, Number: m.ids}, op.Kind == frame.SetAt
	op.Value = []byte(m.text("value"))
	if m.rand.IntN(2) == 0 {
		op.Schedule = []byte(m.text("schedule"))
		op.Paused = m.rand.IntN(2) == 0
	}
	if m.rand.IntN(3) == 0 {
		op.Trace = []byte(m.text("trace"))
	}
	if m.rand.IntN(3) == 0 && len(op.Schedule) == 0 {
		op.Debounced, op.Since = true, int64(m.rand.IntN(1000))
	}
	*now = Timer{Key: string(op.Key), Value: string(op.Value), ID: op.ID, Due: op.Due, Home: h.Number, Wall: op.Wall,
		Extra: Extra{Schedule: string(op.Schedule), Trace: string(op.Trace), Debounced: op.Debounced, Since: op.Since, Paused: op.Paused}}
	*until = op.Due
}

func (m *model) text(of string) string { return fmt.Sprint(of, m.rand.IntN(1000)) }

// compare finds that s has what the model has.
func (m *model) compare(t *testing.T, s *State) {
	var expiries []int64
	dead, bytes := 0, int64(0)
	for key, want := range m.timers {
		got, ref, ok := s.Find([]byte(key))
		require.True(t, ok)
		want.Home = got.Home
		require.Equal(t, want, got)
		if want.Dead {
			dead++
			expiries = append(expiries, want.Failed+keepDead)
		} else {
			until, _ := s.until(uint32(ref), s.records.at(uint32(ref)))
			require.Equal(t, m.until[key], until, key)
			require.Equal(t, m.left[key], s.Left(ref))
			require.Equal(t, m.left[key] != 0, s.WasLeft(ref))
			require.Equal(t, m.left[key] != 0, s.Listed(ref).Running)
		}
		bytes += int64(s.records.at(uint32(ref)).size()) + want.Extra.size()
	}
	require.Equal(t, len(m.timers)-dead, s.Len())
	require.Equal(t, dead, s.Dead())
	require.Equal(t, bytes, s.Bytes())
	slices.Sort(expiries)
	var got []int64
	for {
		at, ok := s.NextExpiry()
		if !ok {
			break
		}
		_, early := s.PopExpired(at - 1)
		require.False(t, early)
		ref, ok := s.PopExpired(at)
		require.True(t, ok)
		require.True(t, s.Timer(ref).Dead)
		got = append(got, at)
	}
	require.Equal(t, expiries, got)
	require.LessOrEqual(t, len(s.extras), len(m.timers))
	m.requireParked(t, s)
}

// requireParked finds that the timers that are paused, and no others, are on no wheel.
func (m *model) requireParked(t *testing.T, s *State) {
	paused := 0
	for _, want := range m.timers {
		if want.Paused {
			paused++
		}
	}
	require.Len(t, s.parked, paused)
	require.Equal(t, s.Len()-paused, s.wheels[0].Len()+s.wheels[1].Len())
}

// again is a State of what trimming writes of the state.
func (m *model) again(t *testing.T) *State {
	h := frame.Header{Number: m.number + 1, Owner: 10, Time: int64(m.number) + 1}
	var w frame.Builder
	w.Start(h)
	var room []byte
	c := m.state.Cursor()
	c.Take(1000, func(ref Ref, _ Timer) {
		var op frame.Op
		op, room = m.state.Keep(ref, h.Time, room[:0])
		w.Add(&op)
	})
	c.Close()
	b, _ := w.Finish()
	f, err := frame.Parse(b)
	require.NoError(t, err)
	s := New()
	s.SetKeepDead(time.Duration(keepDead))
	for op, err := range f.Ops() {
		require.NoError(t, err)
		require.NoError(t, s.Apply(&f.Header, op))
	}
	s.Build()
	return s
}

// Most timers take nothing for what they don't have.
func TestNoMemoryForWhatIsNotThere(t *testing.T) {
	s := New()
	h := &frame.Header{Number: 1}
	for i := range 100 {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: fmt.Append(nil, i)}))
	}
	require.Empty(t, s.extras)
	for i := range 100 {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Die, Key: fmt.Append(nil, i), Attempt: 1}))
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Revive, Key: fmt.Append(nil, i)}))
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: fmt.Append(nil, i), More: frame.More{Trace: []byte("t")}}))
	}
	require.Len(t, s.extras, 100)
	for i := range 100 {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Remove, Key: fmt.Append(nil, i)}))
	}
	require.Empty(t, s.extras)
	require.Zero(t, s.Bytes())
}
