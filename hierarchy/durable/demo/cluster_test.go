package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// The whole demonstration of a cluster runs, with shorter steps.
func TestCluster(t *testing.T) {
	var out bytes.Buffer
	dir := filepath.Join(t.TempDir(), "kept")
	o := options{cluster: true, dir: dir, kept: true, life: 200 * time.Millisecond}
	require.NoError(t, show(t.Context(), o, terminal.New(&out, os.Getenv)), "%s", &out)
	text := out.String()
	wanted := []string{
		"Epicycle: timers of several processes", "three workers begin", "kill -9 of worker 2", "worker 4 joins",
		"kill -9 of a server", "worker 1 ends in order", "What was acknowledged", "How late all timers were", "half within",
	}
	if child.CanStop {
		wanted = append(wanted, "worker 3 is stopped", "worker 3 goes on")
	}
	for _, want := range wanted {
		require.Contains(t, text, want)
	}
	requireStory(t, text, dir)
	for _, server := range []string{"server1", "server2", "server3"} {
		require.DirExists(t, filepath.Join(dir, server))
	}
}

// An interrupt ends all processes, also one that is stopped.
func TestClusterInterrupt(t *testing.T) {
	event := "worker 3 is stopped"
	if !child.CanStop {
		event = "kill -9 of worker 2"
	}
	ctx, interrupt := context.WithCancel(t.Context())
	out := &watched{wanted: event, found: interrupt}
	d := &clusterDemo{Screen: terminal.New(out, os.Getenv), options: options{cluster: true, dir: t.TempDir(), life: time.Millisecond}}
	require.EqualError(t, d.give(ctx), "interrupted")
	require.Zero(t, d.running)
	for _, w := range d.workers {
		<-w.Ended()
	}
	for _, s := range d.servers {
		<-s.Ended()
	}
}

// A worker that fails ends the demonstration, and is named with its error.
func TestWorkerThatFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its errors have other texts")
	}
	var out bytes.Buffer
	d := &clusterDemo{Screen: terminal.New(&out, os.Getenv), options: options{dir: t.TempDir()}, account: newAccount(), ctx: t.Context(), says: make(chan said)}
	d.servers = []*servers.Process{{Config: servers.Config{Port: 1}}} // which nobody listens to
	require.NoError(t, d.startWorker())
	s := <-d.says
	require.False(t, s.more)
	require.ErrorContains(t, d.hear(s), "a process failed")
}

func TestShare(t *testing.T) {
	d := &clusterDemo{account: newAccount()}
	require.False(t, d.share())
	d.workers = []*clusterWorker{fakeWorker(11, ""), fakeWorker(12, "11,12,-"), fakeWorker(13, "13,13,13")}
	require.Equal(t, []string{"1", "2", "·"}, d.owners())
	require.False(t, d.share("1", "2"))
	d.workers[1].owners = "11,12,11"
	require.True(t, d.share("1", "2"))
	require.False(t, d.share("1", "2", "3"))
	require.False(t, d.share("1"))
	d.workers[1].silent = true
	require.True(t, d.share("3"))
}

func fakeWorker(pid int, owners string) *clusterWorker {
	return &clusterWorker{id: fmt.Sprint(pid), owners: owners}
}
