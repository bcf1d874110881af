package jetstream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	streams "github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/tabletest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

func server(t *testing.T) *servers.Local {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, s *servers.Local, name string) *streams.Table {
	store, err := streams.OpenTable(t.Context(), streams.TableConfig{Conn: s.Conn(), Name: name})
	require.NoError(t, err)
	return store
}

func TestTableContract(t *testing.T) {
	s := server(t)
	names := 0
	tabletest.Run(t, func(t *testing.T) func() storage.Table {
		names++
		name := fmt.Sprintf("table%d", names)
		return func() storage.Table { return open(t, s, name) }
	})
}

func TestBucket(t *testing.T) {
	s := server(t)
	n, err := open(t, s, "x").Put(t.Context(), "member.1", []byte("a"), 0)
	require.NoError(t, err)
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	bucket, err := js.KeyValue(t.Context(), "epicycle_x")
	require.NoError(t, err)
	entry, err := bucket.Get(t.Context(), "member.1")
	require.NoError(t, err)
	require.Equal(t, n, entry.Revision())
	status, err := bucket.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), status.History())
	require.Zero(t, status.TTL())
	stream, err := js.Stream(t.Context(), "KV_epicycle_x")
	require.NoError(t, err)
	require.Equal(t, jetstream.FileStorage, stream.CachedInfo().Config.Storage)
}

// A bucket that was made otherwise, as by another version or with a tool, is used if it forgets nothing.
func TestBucketOfAnother(t *testing.T) {
	s := server(t)
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	_, err = js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "epicycle_x", History: 5, Compression: true})
	require.NoError(t, err)
	store := open(t, s, "x")
	n, err := store.Put(t.Context(), "member.1", []byte("a"), 0)
	require.NoError(t, err)
	require.NoError(t, store.Delete(t.Context(), "member.1", n))
	r, err := store.Get(t.Context(), "member.1")
	require.ErrorIs(t, err, storage.ErrAbsent)
	require.True(t, r.Deleted)
}

// A bucket that forgets leases or claims is refused.
func TestBucketThatForgets(t *testing.T) {
	s := server(t)
	js, err := jetstream.New(s.Conn())
	require.NoError(t, err)
	for what, cfg := range map[string]jetstream.KeyValueConfig{
		"storage is Memory and must be file": {Storage: jetstream.MemoryStorage},
		"max_age is 1h0m0s and must be 0":    {TTL: time.Hour},
	} {
		cfg.Bucket = "epicycle_x"
		_, err = js.CreateKeyValue(t.Context(), cfg)
		require.NoError(t, err)
		at := streams.TableConfig{Conn: s.Conn(), Name: "x"}
		_, err = streams.OpenTable(t.Context(), at)
		require.ErrorContains(t, err, what)
		_, found := streams.FindTable(t.Context(), at)
		require.Equal(t, err, found)
		require.NoError(t, js.DeleteKeyValue(t.Context(), cfg.Bucket))
		_, err = streams.FindTable(t.Context(), at)
		require.ErrorContains(t, err, "no process that has a Handle has opened it yet")
		_, err = js.KeyValue(t.Context(), cfg.Bucket)
		require.ErrorIs(t, err, jetstream.ErrBucketNotFound)
	}
}

// Watches leave no goroutine behind, also if nobody reads what has come.
func TestNoGoroutineIsLeft(t *testing.T) {
	s := server(t)
	store := open(t, s, "x")
	last := uint64(0)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		_, err := store.Watch(ctx)
		require.NoError(t, err)
	}
	for range 700 {
		n, err := store.Put(t.Context(), "x", nil, last)
		require.NoError(t, err)
		last = n
	}
	cancel()
	require.Zero(t, leak.Check(0, before))
}
