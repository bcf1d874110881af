package member

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// Members on a bucket of JetStream see each other, and pass claims on.
func TestOnABucket(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	defer s.Close()
	join := func() *Member {
		store, err := jetstream.OpenTable(ctx, jetstream.TableConfig{Conn: s.Conn(), Name: "x"})
		require.NoError(t, err)
		m, err := Join(ctx, Config{Store: store, Partitions: 2})
		require.NoError(t, err)
		return m
	}
	wait := func(m *Member, done func() bool) {
		for !done() {
			select {
			case <-m.Changed():
			case <-ctx.Done():
				require.FailNow(t, "it does not come")
			}
		}
	}
	a, b := join(), join()
	defer a.Stop()
	defer b.Stop()
	require.NoError(t, a.Claim(ctx, 0))
	require.NoError(t, a.Claim(ctx, 1))
	wait(b, func() bool { return b.View().Claims[0].Holder == a.ID() && b.View().Claims[1].Holder == a.ID() })
	require.ErrorIs(t, b.Claim(ctx, 0), ErrNotFree)
	require.NoError(t, a.Give(ctx, 0, b.ID()))
	wait(b, func() bool { return b.Owns(0) })
	require.NoError(t, a.Leave(ctx))
	wait(b, func() bool { return len(b.View().Living()) == 1 })
	require.NoError(t, a.Resign(ctx))
	wait(b, func() bool { return b.View().Claims[1].Free })
	require.NoError(t, b.Claim(ctx, 1))
	require.True(t, b.Owns(1))
}
