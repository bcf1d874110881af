package durable_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A timer whose first attempt was postponed waits for the same time after an Import, also after another one.
func TestExportOfAPostponedTimer(t *testing.T) {
	var firings []durable.Firing[string, string]
	mock := clock.NewMock()
	w := announcing(t, t.TempDir(), mock, &firings)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	mock.Add(time.Second)
	a, ok := w.Begin("k", firings[0].ID)
	require.True(t, ok)
	_, err := a.End(t.Context(), durable.Postpone(time.Hour, errors.New("not now")))
	require.NoError(t, err)
	next := mock.Now().Add(time.Hour)
	want := exported(t, w)
	require.Contains(t, want[0], `"next":"1970-01-01T01:00:01Z"`)
	for range 2 {
		var later []durable.Firing[string, string]
		to := announcing(t, t.TempDir(), mock, &later)
		_, err = to.Import(t.Context(), strings.NewReader(strings.Join(want, "")))
		require.NoError(t, err)
		require.Equal(t, want, exported(t, to))
		mock.Set(next.Add(-1))
		require.Empty(t, later)
		e, ok, err := to.Lookup(t.Context(), "k")
		require.NoError(t, err)
		require.True(t, ok)
		require.True(t, next.Equal(e.Next))
		mock.Add(1)
		require.Len(t, later, 1)
		require.Equal(t, 1, later[0].Attempt)
		next = next.Add(time.Hour)
		want[0] = strings.Replace(want[0], "T01:", "T02:", 1)
	}
}

// An attempt that goes on by its token begins again after an Import, with the same number.
func TestExportOfALeftAttempt(t *testing.T) {
	var firings, later []durable.Firing[string, string]
	mock, dir := clock.NewMock(), t.TempDir()
	w := announcing(t, dir, mock, &firings)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Second)))
	mock.Add(time.Second)
	a, ok := w.Begin("k", firings[0].ID)
	require.True(t, ok)
	a.Token(time.Hour)
	require.NoError(t, w.Shutdown(t.Context()))
	w = announcing(t, dir, mock, &firings)
	lines := exported(t, w)
	require.Contains(t, lines[0], `"state":"running"`)
	to := announcing(t, t.TempDir(), mock, &later)
	_, err := to.Import(t.Context(), strings.NewReader(strings.Join(lines, "")))
	require.NoError(t, err)
	mock.Add(1)
	require.Len(t, later, 1)
	require.Equal(t, 1, later[0].Attempt)
	require.NoError(t, w.Close())
	var b bytes.Buffer
	require.NoError(t, durable.Salvage(&b, "", func(durable.Salvaged) error { return nil }, dir))
	salvaged := slices.Collect(strings.Lines(b.String()))
	require.Contains(t, salvaged[0], strings.TrimPrefix(strings.TrimSpace(lines[0]), "{"))
}
