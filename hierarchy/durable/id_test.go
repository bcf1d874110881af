package durable_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// requireSame checks that an ID comes back from each of its texts.
func requireSame(t *testing.T, id durable.ID) {
	parsed, err := durable.ParseID(id.String())
	require.NoError(t, err)
	require.Equal(t, id, parsed)
	text, err := id.MarshalText()
	require.NoError(t, err)
	require.Equal(t, id.String(), string(text))
	var back durable.ID
	require.NoError(t, back.UnmarshalText(text))
	require.Equal(t, id, back)
}

func TestIDsComeBack(t *testing.T) {
	mock := clock.NewMock()
	var ids []durable.ID
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Clock: mock,
		Handle: func(_ context.Context, f firing) error { ids = append(ids, f.ID); return nil }})
	for _, k := range []string{"a", "b", "c"} {
		require.NoError(t, errOf(w.Set(t.Context(), k, "", time.Second)))
	}
	mock.Add(time.Second)
	require.Len(t, ids, 3)
	for _, id := range append(ids, durable.ID{}) {
		requireSame(t, id)
		data, err := json.Marshal(map[durable.ID]durable.ID{id: id})
		require.NoError(t, err)
		require.Equal(t, `{"`+id.String()+`":"`+id.String()+`"}`, string(data))
		var back map[durable.ID]durable.ID
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, map[durable.ID]durable.ID{id: id}, back)
	}
}

func TestTextsThatAreNoIDs(t *testing.T) {
	good := strings.Repeat("0a", 16)
	want, err := durable.ParseID(good)
	require.NoError(t, err)
	for _, text := range []string{"", good[1:], good + "0", strings.ToUpper(good), " " + good[1:], good[:31] + "g", "0x" + good[2:],
		strings.Repeat("ä", 16)} {
		_, err := durable.ParseID(text)
		requireOurs(t, err, durable.ErrArgument)
		id := want
		requireOurs(t, id.UnmarshalText([]byte(text)), durable.ErrArgument)
		require.Equal(t, want, id)
	}
}

// FuzzParseID: no two texts are one ID.
func FuzzParseID(f *testing.F) {
	f.Add(durable.ID{}.String())
	f.Add(strings.Repeat("F0", 16))
	f.Add("0123456789abcdef0123456789abcdef")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := durable.ParseID(text)
		if err != nil {
			require.ErrorIs(t, err, durable.ErrArgument)
			require.Zero(t, id)
			return
		}
		require.Equal(t, text, id.String())
		requireSame(t, id)
	})
}

// A timer can have the ID of another one as its key, and as its value.
func TestIDsAsKeys(t *testing.T) {
	w := open(t, durable.Config[durable.ID, durable.ID]{Dir: t.TempDir(),
		Handle: func(context.Context, durable.Firing[durable.ID, durable.ID]) error { return nil }})
	for _, text := range []string{strings.Repeat("12", 16), strings.Repeat("ab", 16)} {
		id, err := durable.ParseID(text)
		require.NoError(t, err)
		require.NoError(t, errOf(w.Set(t.Context(), id, id, time.Hour)))
		v, _, ok, err := w.Get(t.Context(), id)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, id, v)
	}
}
