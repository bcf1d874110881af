package jetstream

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// Two processes make a set at the same time. The slower one takes it as the faster one has made it, also if
// that has written to a log already. A set whose record is lost is damaged.
func TestSlowerCreation(t *testing.T) {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	faster, err := Open(t.Context(), Config{Conn: s.Conn(), Name: "same", Partitions: 3})
	require.NoError(t, err)
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	slower := &Set{cfg: Config{Conn: s.Conn(), Name: "same"}, js: js}
	create := func(ctx context.Context) error {
		a, err := slower.create(ctx)
		if err == nil {
			require.Equal(t, about{format, 3}, a)
		}
		return err
	}
	require.NoError(t, create(t.Context()))

	require.NoError(t, faster.Logs[0].Append(t.Context(), 0, []byte("frame")))
	require.NoError(t, create(t.Context()))

	marks, err := js.Stream(t.Context(), "epicycle_same_marks")
	require.NoError(t, err)
	require.NoError(t, marks.Purge(t.Context()))
	require.ErrorIs(t, create(t.Context()), storage.ErrDamaged)
}
