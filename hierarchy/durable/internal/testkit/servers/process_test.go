package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// The test binary is a server, too.
func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// Servers in processes of their own can be connected to, until they are killed.
func TestSpawn(t *testing.T) {
	dir := t.TempDir()
	cfgs, err := Cluster(3, func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) })
	require.NoError(t, err)
	all, err := SpawnAll(cfgs)
	require.NoError(t, err)
	for _, p := range all {
		nc, err := nats.Connect(p.URL())
		require.NoError(t, err)
		nc.Close()
		p.Kill()
		p.Kill()
		_, err = nats.Connect(p.URL(), nats.Timeout(time.Second))
		require.Error(t, err)
	}
}

// A server that can't start is an error that says why, and the others end.
func TestSpawnFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cfgs, err := Cluster(2, func(i int) string { return file })
	require.NoError(t, err)
	cfgs[0].Cluster, cfgs[0].Others, cfgs[0].Dir = 0, nil, t.TempDir()
	cfgs[1].Cluster, cfgs[1].Others = 0, nil
	_, err = SpawnAll(cfgs)
	require.ErrorContains(t, err, "server server2 does not start: ")
	_, err = nats.Connect(cfgs[0].URL(), nats.Timeout(time.Second))
	require.Error(t, err)
}

// A server whose parent has gone ends by itself.
func TestEndsWithItsParent(t *testing.T) {
	cfgs, err := Cluster(1, func(int) string { return t.TempDir() })
	require.NoError(t, err)
	cfgs[0].Cluster = 0
	p, err := Spawn(cfgs[0])
	require.NoError(t, err)
	require.NoError(t, p.In.Close())
	<-p.Ended()
	require.NoError(t, p.Err())
}
