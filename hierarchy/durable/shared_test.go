package durable_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// natsServers starts n servers, and returns how to connect to them.
func natsServers(t testing.TB, n int) (urls string, all []*server.Server) {
	dir := t.TempDir()
	cfgs, err := servers.Cluster(n, func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) })
	require.NoError(t, err)
	all = make([]*server.Server, n)
	var wg sync.WaitGroup
	for i, cfg := range cfgs {
		if n == 1 {
			cfg.Cluster = 0
		}
		wg.Go(func() {
			s, err := servers.Start(cfg)
			if err != nil {
				t.Error(err)
				return
			}
			all[i] = s
		})
		urls += cfg.URL() + ","
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, s := range all {
			if s != nil {
				s.Shutdown()
				s.WaitForShutdown()
			}
		}
	})
	require.False(t, t.Failed())
	return urls, all
}

// answersLate lets servers on a busy machine take longer for a request than they may by default, which is 5s.
var answersLate = jetstream.WithDefaultTimeout(time.Minute)

// connectsLate lets them take longer than 2s for a connection.
var connectsLate = nats.Timeout(time.Minute)

func connect(t testing.TB, urls string) *nats.Conn {
	nc, err := nats.Connect(urls, connectsLate, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// record has what the workers have handled.
type record struct {
	mu    sync.Mutex
	count map[string]int
}

func (r *record) handle(_ context.Context, f durable.Firing[string, string]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = make(map[string]int)
	}
	r.count[f.Key]++
	return nil
}

func (r *record) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.count)
}

func openShared(t testing.TB, nc *nats.Conn, r *record, lease time.Duration) *strs {
	level := slog.LevelWarn
	if os.Getenv("DEBUG") != "" {
		level = slog.LevelDebug
	}
	w, err := durable.Open(t.Context(), durable.Config[string, string]{
		Conn: nc, Lease: lease, Handle: r.handle,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// Two processes share the partitions evenly, and answer for each other.
func TestTwoShareThePartitions(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	a := openShared(t, connect(t, urls), &r, 10*time.Second)
	require.Equal(t, 8, a.Stats().Owned)
	ctx := t.Context()
	for i := range 100 {
		require.NoError(t, errOf(a.Set(ctx, fmt.Sprint(i), "value", time.Hour)))
	}
	b := openShared(t, connect(t, urls), &r, 10*time.Second)
	// At once, if a has not lived for long.
	require.Eventually(t, func() bool { return a.Stats().Owned == 4 && b.Stats().Owned == 4 }, time.Minute, 10*time.Millisecond)
	for _, w := range []*strs{a, b} {
		n, err := w.Len(ctx)
		require.NoError(t, err)
		require.Equal(t, 100, n)
		for i := range 100 {
			requirePending(t, w, fmt.Sprint(i))
		}
		seen := 0
		for _, err := range w.All(ctx) {
			require.NoError(t, err)
			seen++
		}
		require.Equal(t, 100, seen)
	}
	for i := range 100 {
		_, ok, err := b.Move(ctx, fmt.Sprint(i), 0)
		require.NoError(t, err)
		require.True(t, ok)
	}
	require.Eventually(t, func() bool { return r.len() == 100 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, b.Shutdown(ctx))
	require.Eventually(t, func() bool { return a.Stats().Owned == 8 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, a.Shutdown(ctx))
}

// insist does something again as long as it is ErrUnavailable: a lease is soon lost on a busy machine.
func insist(do func() error) error {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if err := do(); !errors.Is(err, durable.ErrUnavailable) || time.Since(begun) > time.Minute {
			return err
		}
	}
}

// A process that ends without a word loses its partitions after its lease, and nothing is lost.
func TestADeadProcessIsTakenOver(t *testing.T) {
	t.Parallel() // it waits for leases
	urls, _ := natsServers(t, 3)
	const lease = 2 * time.Second
	var r record
	a := openShared(t, connect(t, urls), &r, lease)
	nc := connect(t, urls)
	b := openShared(t, nc, &r, lease)
	ctx := t.Context()
	const n = 500
	for i := range n {
		require.NoError(t, insist(func() error {
			_, err := a.Set(ctx, fmt.Sprint(i), "value", 8*time.Second)
			return err
		}))
	}
	require.Eventually(t, func() bool { return b.Stats().Owned == 4 }, time.Minute, 10*time.Millisecond)
	nc.Close() // it can't do or say anything any more
	begun := time.Now()
	require.Eventually(t, func() bool { return a.Stats().Owned == 8 }, time.Minute, 10*time.Millisecond)
	t.Log("taken over after", time.Since(begun))
	require.Eventually(t, func() bool { return r.len() == n }, time.Minute, 10*time.Millisecond)
	_, _, _, err := b.Get(ctx, "1")
	require.ErrorIs(t, err, durable.ErrUnavailable)
}

// When a server ends, all partitions go on.
func TestAServerEnds(t *testing.T) {
	t.Parallel() // it waits for leases
	urls, all := natsServers(t, 3)
	var r record
	a := openShared(t, connect(t, urls), &r, 10*time.Second)
	b := openShared(t, connect(t, urls), &r, 10*time.Second)
	ctx := t.Context()
	for i := range 100 {
		require.NoError(t, insist(func() error {
			_, err := a.Set(ctx, fmt.Sprint(i), "", time.Hour)
			return err
		}))
	}
	all[1].Shutdown()
	begun := time.Now()
	for i := range 100 {
		require.NoError(t, insist(func() error {
			_, err := b.Set(ctx, fmt.Sprint(i), "", 0)
			return err
		}))
	}
	t.Log("all partitions answered after", time.Since(begun))
	require.Eventually(t, func() bool { return r.len() == 100 }, time.Minute, 10*time.Millisecond)
}
