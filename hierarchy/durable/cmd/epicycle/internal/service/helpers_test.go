package service

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func open(t *testing.T, logger *slog.Logger) *Service {
	t.Helper()
	s, err := Open(t.Context(), Config{
		Durable: durable.Config[string, task.Task]{Dir: t.TempDir(), Logger: logger},
		Sender:  web.NewSender(new(web.Guard), nil, 1, "test"), PerHost: 1, Total: 1,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	return s
}

// errOf is the error of a call that returns something else, too.
func errOf[T any](_ T, err error) error { return err }
