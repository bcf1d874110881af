package stream_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/journaltest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/stream"
)

// server is an embedded server with the files in dir, until the test ends.
func server(t *testing.T, dir string) *embedded.Server {
	s, err := embedded.Open(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func TestContract(t *testing.T) {
	s := server(t, t.TempDir())
	names := 0
	journaltest.Run(t, func(t *testing.T) func() journal.Log {
		names++
		name := fmt.Sprintf("set%d", names)
		return func() journal.Log {
			set, err := stream.Open(t.Context(), stream.Config{Conn: s.Conn(), Name: name, Partitions: 2})
			require.NoError(t, err)
			return set.Logs[1]
		}
	})
}
