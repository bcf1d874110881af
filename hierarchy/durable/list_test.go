package durable_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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

// List is what a sorted slice of all keys says, page by page.
func TestListModel(t *testing.T) {
	var firings []durable.Firing[string, string]
	w := announcing(t, t.TempDir(), clock.NewMock(), &firings)
	random := rand.New(rand.NewPCG(1, 2))
	var all []string
	for i := range 500 {
		key := fmt.Sprintf("%c%d", 'a'+rune(random.IntN(3)), i)
		all = append(all, key)
		require.NoError(t, errOf(w.Set(t.Context(), key, "v", time.Hour)))
	}
	slices.Sort(all)
	for range 200 {
		prefix := []string{"", "a", "b1", "c", "x", "z"}[random.IntN(6)]
		after := []string{"", "a5", "b", "c3", "zz"}[random.IntN(5)]
		limit := 1 + random.IntN(50)
		var want []string
		for _, key := range all {
			if key > after && len(key) >= len(prefix) && key[:len(prefix)] == prefix && len(want) < limit {
				want = append(want, key)
			}
		}
		got, err := w.List(t.Context(), durable.Query{Prefix: prefix, After: after, Limit: limit})
		require.NoError(t, err)
		require.Equal(t, want, listedKeys(got), "%q %q %d", prefix, after, limit)
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
