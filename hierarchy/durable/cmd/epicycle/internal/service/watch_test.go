package service

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func open(t *testing.T) *Service { return openWith(t, slog.New(slog.DiscardHandler)) }

func openWith(t *testing.T, logger *slog.Logger) *Service {
	t.Helper()
	s, err := Open(t.Context(), Config{
		Durable: durable.Config[string, task.Task]{Dir: t.TempDir(), Partitions: 1, Logger: logger},
		Sender:  web.NewSender(new(web.Guard), nil, 1, "test"), PerHost: 1, Total: 1,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Shutdown(t.Context())) })
	return s
}

// A timer that has ended is known still to who watches its key, and to nobody else.
func TestWatch(t *testing.T) {
	s := open(t)
	one, same, other := s.Watch("k"), s.Watch("k"), s.Watch("other")
	to := task.Task{Value: []byte("1"), To: task.Target{Kind: task.Queue, Name: "q"}, Timeout: time.Hour}
	require.NoError(t, s.Set(t.Context(), "k", to, 0))
	taken := s.Take(t.Context(), "q", 1, "")
	require.Equal(t, []error{nil}, s.End(t.Context(), "q", []string{taken[0].Token}, nil, ""))
	_, ok, err := s.Lookup(t.Context(), "k")
	require.NoError(t, err)
	require.False(t, ok)
	for _, w := range []*Watch{one, same} {
		f, ok := w.Last()
		require.True(t, ok)
		require.Equal(t, taken[0].ID, f.ID.String())
		require.Equal(t, to, f.Value)
	}
	_, ok = other.Last()
	require.False(t, ok)
	one.Stop()
	_, ok = same.Last()
	require.True(t, ok)
	same.Stop()
	other.Stop()
	require.Zero(t, s.watched.n.Load())
	require.Empty(t, s.watched.keys)
}
