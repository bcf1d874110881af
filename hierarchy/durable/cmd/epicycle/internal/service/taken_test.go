package service

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/lane"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// A timer that an import has given another target, with the same ID, does not fire at the target that it had.
func TestTimersWithAnotherTarget(t *testing.T) {
	s := open(t, slog.New(slog.DiscardHandler))
	to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "new"}, Timeout: time.Hour}
	require.NoError(t, errOf(s.Set(t.Context(), "k", to, 0)))
	pop := func() (d lane.Due) {
		eventually(t, func() (ok bool) { d, _, ok = s.queues.Pop("new", ""); return ok })
		return d
	}
	_, ok := s.begin("old", pop(), nil)
	require.False(t, ok)
	require.Equal(t, lane.Unknown, s.send(pop()))
	got := s.TakeWithin(t.Context(), "new", 1, time.Hour, "")
	require.Len(t, got, 1)
	require.Equal(t, 1, got[0].Attempt)
}
