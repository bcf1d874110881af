package durable_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// tooLong is when a test believes that a call hangs.
const tooLong = time.Minute

// blocked is a configuration whose directory has a file where a directory has to be.
func blocked(t *testing.T) (cfg durable.Config[string, string], file string) {
	dir := t.TempDir()
	file = filepath.Join(dir, "logs")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	var fired []string
	return config(t, dir, clock.NewMock(), &fired), file
}

// A directory that can't be used ends Open at once, with the reason. When the reason is gone, Open works.
func TestOpenOfADirectoryThatIsAFile(t *testing.T) {
	cfg, file := blocked(t)
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	defer cancel()
	_, err := durable.Open(ctx, cfg)
	require.ErrorContains(t, err, cfg.Dir)
	require.ErrorContains(t, err, "not a directory")
	require.NoError(t, ctx.Err())
	require.NoError(t, os.Remove(file))
	require.NoError(t, errOf(open(t, cfg).Set(t.Context(), "a", "", time.Hour)))
}

// What goes wrong with one directory holds up no other one.
func TestFailedOpenHoldsUpNoOtherDirectory(t *testing.T) {
	var fired []string
	good, err := durable.Open(t.Context(), config(t, t.TempDir(), clock.NewMock(), &fired))
	require.NoError(t, err)
	cfg, _ := blocked(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = durable.Open(ctx, cfg)
	require.Error(t, err)
	closed := make(chan struct{})
	go func() {
		good.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(tooLong):
		t.Fatal("Close of another directory hangs")
	}
}
