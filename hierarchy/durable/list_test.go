package durable_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

func listedKeys(entries []durable.Entry[string, string]) (keys []string) {
	for _, e := range entries {
		keys = append(keys, e.Key)
	}
	return keys
}

// listModel is a set of timers and the state that each must have.
type listModel struct {
	*testing.T
	rand    *rand.Rand
	timers  *strs
	mock    *clock.Mock
	firings []firing // that were announced
	begun   map[string]*durable.Attempt[string, string]
	states  map[string]durable.State
}

func newListModel(t *testing.T, partitions int) *listModel {
	m := &listModel{T: t, rand: rand.New(rand.NewPCG(1, 2)), mock: clock.NewMock(),
		begun: map[string]*durable.Attempt[string, string]{}, states: map[string]durable.State{}}
	m.timers = open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: m.mock,
		Announce: func(f firing) { m.firings = append(m.firings, f) }})
	return m
}

// change makes a random change.
func (m *listModel) change() {
	key, ctx := fmt.Sprintf("%c%d", 'a'+rune(m.rand.IntN(3)), m.rand.IntN(100)), m.Context()
	switch n := m.rand.IntN(10); {
	case n < 5:
		require.NoError(m, errOf(m.timers.Set(ctx, key, "v", time.Hour)))
		m.states[key] = durable.StateWaiting
	case n == 5:
		_, _, err := m.timers.Remove(ctx, key)
		require.NoError(m, err)
		delete(m.states, key)
	case n == 6:
		ok, err := m.timers.Revive(ctx, key)
		require.NoError(m, err)
		require.Equal(m, m.states[key] == durable.StateDead, ok)
		m.begin()
	case n < 9:
		require.NoError(m, errOf(m.timers.Set(ctx, key, "v", 0)))
		m.begin()
	default:
		m.end()
	}
}

// begin begins the attempts of the timers that are due.
func (m *listModel) begin() {
	m.mock.Add(1)
	for _, f := range m.firings {
		a, ok := m.timers.Begin(f.Key, f.ID)
		require.True(m, ok)
		m.states[f.Key], m.begun[f.Key] = durable.StateRunning, a
	}
	m.firings = nil
}

// end ends all attempts: some timers are gone then, some dead, and some wait.
func (m *listModel) end() {
	for key, a := range m.begun {
		n := m.rand.IntN(3)
		no := errors.New("no")
		ended, err := a.End(m.Context(), []error{nil, durable.Permanent(no), durable.RetryAfter(time.Hour, no)}[n])
		require.NoError(m, err)
		switch {
		case !ended: // it was set or removed meanwhile
		case n == 0:
			delete(m.states, key)
		default:
			m.states[key] = []durable.State{0, durable.StateDead, durable.StateWaiting}[n]
		}
	}
	clear(m.begun)
}

// list compares a random list with the model, page by page.
func (m *listModel) list() {
	q := durable.Query{Limit: 1 + m.rand.IntN(50), Prefix: []string{"", "a", "b1", "c", "x"}[m.rand.IntN(5)],
		After: []string{"", "a5", "b", "c3", "zz"}[m.rand.IntN(5)]}
	for _, state := range []durable.State{durable.StateWaiting, durable.StateRunning, durable.StateDead} {
		if m.rand.IntN(2) == 0 {
			q.States = append(q.States, state)
		}
	}
	var want []string
	for key, state := range m.states {
		if key > q.After && strings.HasPrefix(key, q.Prefix) && (len(q.States) == 0 || slices.Contains(q.States, state)) {
			want = append(want, key)
		}
	}
	slices.Sort(want)
	for first := true; first || len(want) > 0; first = false {
		got, err := m.timers.List(m.Context(), q)
		require.NoError(m, err)
		require.Equal(m, want[:min(len(want), q.Limit)], listedKeys(got), "%+v", q)
		for _, e := range got {
			require.Equal(m, m.states[e.Key], e.State)
		}
		if want = want[len(got):]; len(got) > 0 {
			q.After = got[len(got)-1].Key
		}
	}
}

// List is what a sorted map says, page by page, whatever changes in between.
func TestListModel(t *testing.T) {
	for _, partitions := range []int{1, 5} {
		t.Run(fmt.Sprint(partitions), func(t *testing.T) {
			m := newListModel(t, partitions)
			for range 1000 {
				m.change()
				if m.rand.IntN(3) == 0 {
					m.list()
				}
			}
		})
	}
}

// Scan reads a little at a time, goes on with what changes behind the reader, and yields what stays once.
func TestScan(t *testing.T) {
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: clock.NewMock(), Handle: func(context.Context, firing) error { return nil }})
	const n = 5000
	var b durable.Batch[string, string]
	for i := range n {
		b.Set(fmt.Sprintf("k%04d", i), "v", time.Hour)
		if b.Len() == 1000 {
			require.NoError(t, w.Batch(t.Context(), &b))
			b.Reset()
		}
	}
	i := 0
	for e, err := range w.Scan(t.Context(), durable.Query{Prefix: "k"}) {
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("k%04d", i), e.Key)
		if i%1000 == 0 {
			require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprintf("k%04d.", i), "behind the reader's back, or not", time.Hour)))
			require.NoError(t, errOf(w.Set(t.Context(), e.Key, "again", 2*time.Hour)))
			_, _, err := w.Remove(t.Context(), fmt.Sprintf("k%04d.", i))
			require.NoError(t, err)
		}
		i++
	}
	require.Equal(t, n, i)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	i = 0
	var last error
	for _, err := range w.Scan(ctx, durable.Query{}) {
		cancel()
		if i++; err != nil {
			last = err
		}
	}
	require.ErrorIs(t, last, context.Canceled)
	require.Less(t, i, n)
	for _, err := range w.Scan(t.Context(), durable.Query{Limit: -1}) {
		require.ErrorIs(t, err, durable.ErrArgument)
	}
}

// Lookup and List say in which state a timer is.
func TestListStates(t *testing.T) {
	var firings []durable.Firing[string, string]
	mock := clock.NewMock()
	w := announcing(t, t.TempDir(), mock, &firings)
	for i, key := range []string{"dead", "running", "due"} {
		require.NoError(t, errOf(w.Set(t.Context(), key, "value of "+key, time.Duration(i+1))))
	}
	require.NoError(t, errOf(w.Set(t.Context(), "waiting", "v", time.Hour)))
	mock.Add(time.Second)
	a, ok := w.Begin("dead", firings[0].ID)
	require.True(t, ok)
	_, err := a.End(t.Context(), durable.Permanent(errors.New("no")))
	require.NoError(t, err)
	_, ok = w.Begin("running", firings[1].ID)
	require.True(t, ok)
	for key, want := range map[string]durable.State{
		"dead": durable.StateDead, "running": durable.StateRunning, "due": durable.StateWaiting, "waiting": durable.StateWaiting,
	} {
		e, ok, err := w.Lookup(t.Context(), key)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, e.State)
		require.Equal(t, key, e.Key)
	}
	e, _, err := w.Lookup(t.Context(), "running")
	require.NoError(t, err)
	require.Equal(t, []any{firings[1].ID, firings[1].Due, "value of running", 1}, []any{e.ID, e.Due, e.Value, e.Attempt})
	_, ok, err = w.Lookup(t.Context(), "none")
	require.NoError(t, err)
	require.False(t, ok)
	for want, states := range map[string][]durable.State{
		"[dead due running waiting]": nil, "[dead]": {durable.StateDead}, "[running]": {durable.StateRunning},
		"[due waiting]": {durable.StateWaiting}, "[dead running]": {durable.StateDead, durable.StateRunning},
	} {
		got, err := w.List(t.Context(), durable.Query{States: states, Limit: 10})
		require.NoError(t, err)
		require.Equal(t, want, fmt.Sprint(listedKeys(got)))
	}
	_, err = w.List(t.Context(), durable.Query{})
	require.ErrorIs(t, err, durable.ErrArgument)
}
