package jetstream

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/bustest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

func TestBusContract(t *testing.T) {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	bustest.Run(t, func(t *testing.T) storage.Bus {
		nc, err := nats.Connect("", nats.InProcessServer(s))
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		return NewBus(nc)
	}, func(b storage.Bus) { require.NoError(t, b.(natsBus).Flush()) })
}
