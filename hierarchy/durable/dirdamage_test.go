package durable

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
)

// What the server finds damaged while a set is open ends the partitions that it is for, and no others.
func TestDamageWhileOpen(t *testing.T) {
	w, err := Open(t.Context(), Config[string, string]{Dir: t.TempDir(), Partitions: 3,
		Handle: func(context.Context, Firing[string, string]) error { return nil }})
	require.NoError(t, err)
	defer w.Close()
	d := w.owners.(*dir)
	for damaged, stream := range []string{"epicycle_other_marks", "epicycle_timers_2", "epicycle_timers_marks"} {
		d.damaged(stream, embedded.ErrCorrupt)
		require.Equal(t, []int{0, 1, 3}[damaged], w.Stats().Damaged, stream)
		require.Equal(t, []int{3, 2, 0}[damaged], w.Stats().Owned, stream)
		for i := range 20 {
			_, err := w.Set(t.Context(), string(rune('a'+i)), "", time.Hour)
			require.True(t, err == nil || errors.Is(err, ErrDamaged) && damaged > 0, err)
			require.False(t, err == nil && damaged == 2)
		}
	}
}

// The counters of a partition whose log is damaged stay: a sum of counters never decreases.
func TestCountersSurviveDamage(t *testing.T) {
	w, err := Open(t.Context(), Config[string, string]{Dir: t.TempDir(), Partitions: 2,
		Handle: func(context.Context, Firing[string, string]) error { return nil }})
	require.NoError(t, err)
	defer w.Close()
	for i := range 20 {
		_, err := w.Set(t.Context(), string(rune('a'+i)), "", time.Hour)
		require.NoError(t, err)
	}
	before := w.Stats()
	w.owners.(*dir).damaged("epicycle_timers_1", embedded.ErrCorrupt)
	after := w.Stats()
	require.Equal(t, 1, after.Damaged)
	require.Equal(t, before.Set, after.Set)
	require.LessOrEqual(t, before.Frames, after.Frames)
	require.LessOrEqual(t, before.Commit.Count(), after.Commit.Count())
	require.Equal(t, before.Partitions[0].Pending, after.Pending, "what can't fire is not pending")
	require.Zero(t, after.Partitions[1].LogBytes)
}
