package durable_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

func TestOpensOfOneDirectory(t *testing.T) {
	ctx, dir, mock := t.Context(), t.TempDir(), clock.NewMock()
	var fired []string
	cfg := config(t, dir, mock, &fired)
	a := open(t, cfg)
	_, err := durable.Open(ctx, cfg)
	require.ErrorIs(t, err, durable.ErrArgument)
	require.ErrorContains(t, err, `Name "timers" of this directory is open`)
	cfg.Name = "other"
	cfg.Partitions = 7 // which is for Conn
	b := open(t, cfg)
	require.NoError(t, errOf(a.Set(ctx, "k", "a", time.Hour)))
	require.NoError(t, errOf(b.Set(ctx, "k", "b", time.Hour)))
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	v, _, _, err := b.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "b", v)
	require.Equal(t, 1, b.Stats().Owned)
	cfg.Name = "timers"
	v, _, _, err = open(t, cfg).Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "a", v)
}

// Some file systems do not tell capital letters from others, so the names of a directory differ in more.
func TestNamesThatDifferInCase(t *testing.T) {
	cfg := config(t, t.TempDir(), clock.NewMock(), new([]string))
	cfg.Name = "Mail"
	require.NoError(t, errOf(open(t, cfg).Set(t.Context(), "k", "a", time.Hour)))
	cfg.Name = "mail"
	_, err := durable.Open(t.Context(), cfg)
	require.ErrorIs(t, err, durable.ErrArgument)
	require.ErrorContains(t, err, `the directory has the Name "Mail", which some file systems do not tell from "mail"`)
}

// A context that has ended ends Open at once, and the directory is free soon after.
func TestOpenEndsWithItsContext(t *testing.T) {
	mock := clock.NewMock()
	var fired []string
	cfg := config(t, t.TempDir(), mock, &fired)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := durable.Open(ctx, cfg)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, cfg.Dir)
	require.NoError(t, errOf(open(t, cfg).Set(t.Context(), "a", "", time.Hour)))
}

func TestBadArguments(t *testing.T) {
	good := durable.Config[string, string]{Dir: t.TempDir(), Handle: func(context.Context, firing) error { return nil }}
	for what, change := range map[string]func(*durable.Config[string, string]){
		"Dir is empty":               func(c *durable.Config[string, string]) { c.Dir = "" },
		"Handle is nil":              func(c *durable.Config[string, string]) { c.Handle = nil },
		"Partitions -1 is not":       func(c *durable.Config[string, string]) { c.Partitions = -1 },
		"Partitions 2000 is not":     func(c *durable.Config[string, string]) { c.Partitions = 2000 },
		"Concurrency -1 is negative": func(c *durable.Config[string, string]) { c.Concurrency = -1 },
		"MaxPending -1 is negative":  func(c *durable.Config[string, string]) { c.MaxPending = -1 },
		"Precision -1ns is negative": func(c *durable.Config[string, string]) { c.Precision = -1 },
		`Name "a.b" must have`:       func(c *durable.Config[string, string]) { c.Name = "a.b" },
		"both Dir and Conn":          func(c *durable.Config[string, string]) { c.Conn = new(nats.Conn) },
		"need Conn":                  func(c *durable.Config[string, string]) { c.Lease = time.Second },
		"Lease 99ms is not": func(c *durable.Config[string, string]) {
			c.Dir, c.Conn, c.Lease = "", new(nats.Conn), 99*time.Millisecond
		},
		"Lease 24h0m1s is not": func(c *durable.Config[string, string]) {
			c.Dir, c.Conn, c.Lease = "", new(nats.Conn), 24*time.Hour+time.Second
		},
		"Lease -1s is not":  func(c *durable.Config[string, string]) { c.Dir, c.Conn, c.Lease = "", new(nats.Conn), -time.Second },
		"Replicas 6 is not": func(c *durable.Config[string, string]) { c.Dir, c.Conn, c.Replicas = "", new(nats.Conn), 6 },
	} {
		cfg := good
		change(&cfg)
		_, err := durable.Open(t.Context(), cfg)
		require.ErrorIs(t, err, durable.ErrArgument)
		require.ErrorContains(t, err, what)
	}
}
