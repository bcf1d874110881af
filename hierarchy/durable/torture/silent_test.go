//go:build linux

package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Owners forget callers as soon as the run says.
func TestWorkerRemembers(t *testing.T) {
	usual := state.Remember
	defer func() { state.Remember = usual }()
	cfg := workerConfig{Records: filepath.Join(t.TempDir(), "records")}
	_, err := newWorker(cfg)
	require.NoError(t, err)
	require.Equal(t, usual, state.Remember)
	o := options{modes: "silent"}
	require.NoError(t, o.harden())
	cfg.habits = o.habits
	_, err = newWorker(cfg)
	require.NoError(t, err)
	require.Equal(t, remembered, state.Remember)
	require.Greater(t, cfg.Silence, state.Remember)
	require.Less(t, state.Remember, time.Minute)
}
