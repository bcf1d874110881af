package embedded

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// holding is a logger for debugging that holds up the server at the first line with a text in it. It
// sends to held then, and goes on when hold is closed.
type holding struct {
	slog.Handler
	text       string
	held, hold chan bool
}

func hold(text string) (h *holding, log *slog.Logger) {
	h = &holding{slog.DiscardHandler, text, make(chan bool, 100), make(chan bool)}
	return h, slog.New(h)
}

func (h *holding) Enabled(context.Context, slog.Level) bool { return true }
func (h *holding) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, h.text) {
		h.held <- true
		<-h.hold
	}
	return nil
}

// opening opens dir in a goroutine.
func opening(dir string, log *slog.Logger) chan *Share {
	opened := make(chan *Share, 1)
	go func() {
		s, _ := Open(context.Background(), dir, log)
		opened <- s
	}()
	return opened
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// requireFree opens and closes another directory than those that are held up.
func requireFree(t *testing.T) {
	s, err := openDir(t.TempDir())
	require.NoError(t, err)
	s.Close()
}

func TestOpensShareAStart(t *testing.T) {
	dir := t.TempDir()
	h, log := hold("Starting JetStream")
	first := opening(dir, log)
	<-h.held
	requireFree(t)
	_, err := Open(ended(), dir, log)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, dir)
	second := opening(dir, slog.New(slog.DiscardHandler))
	close(h.hold)
	a, b := <-first, <-second
	require.Same(t, a.Server, b.Server)
	a.Close()
	a.Close() // which does nothing
	require.True(t, b.Conn().IsConnected())
	b.Close()
	require.True(t, b.Conn().IsClosed())
}

// A server that nobody waits for any more is stopped, and frees its directory.
func TestStartThatNobodyWaitsFor(t *testing.T) {
	dir := t.TempDir()
	h, log := hold("Starting JetStream")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := Open(ctx, dir, log)
		failed <- err
	}()
	<-h.held
	opened.mu.Lock()
	s := opened.servers[dir]
	opened.mu.Unlock()
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	close(h.hold)
	<-s.stopped
	process, end := startHolder(t, dir) // another process can have it
	require.NoError(t, end.Close())
	_, err := process.Wait()
	require.NoError(t, err)
}

func TestOpenWaitsForAStop(t *testing.T) {
	dir := t.TempDir()
	h, log := hold("Initiating Shutdown")
	a, err := Open(t.Context(), dir, log)
	require.NoError(t, err)
	closed := make(chan bool)
	go func() {
		a.Close()
		close(closed)
	}()
	<-h.held
	requireFree(t)
	_, err = Open(ended(), dir, log)
	require.ErrorIs(t, err, context.Canceled)
	next := opening(dir, slog.New(slog.DiscardHandler))
	close(h.hold)
	<-closed
	b := <-next
	require.NotSame(t, a.Server, b.Server)
	require.True(t, b.Conn().IsConnected())
	b.Close()
}

// A server that never gets ready ends Open with the reason. All is free then.
func TestServerThatCannotStart(t *testing.T) {
	for _, file := range []string{"streams", "streams/jetstream"} {
		dir := t.TempDir()
		blocking := filepath.Join(dir, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(blocking), 0o700))
		require.NoError(t, os.WriteFile(blocking, nil, 0o600))
		_, err := openDir(dir)
		require.ErrorContains(t, err, dir)
		require.ErrorContains(t, err, "not a directory", file)
		requireFree(t)
		require.NoError(t, os.Remove(blocking))
		s, err := openDir(dir)
		require.NoError(t, err)
		s.Close()
	}
}

// What the file system does not explain, the server does.
func TestReasonOfAServerThatCannotStart(t *testing.T) {
	s := newServer(t.TempDir())
	l := &logger{Server: s}
	require.Nil(t, l.fatal.Load())
	l.Fatalf("Can't start JetStream: %s", "why")
	l.Fatalf("more")
	require.EqualError(t, s.notStarted(*l.fatal.Load()), "the server does not start: Can't start JetStream: why")
}

// Close does not wait for a server whose disk hangs. The next Open does.
func TestCloseWhileTheDiskHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, log := hold("Server Exiting")
	s, err := Open(context.Background(), dir, log)
	require.NoError(t, err)
	s.Close()
	require.NotEmpty(t, h.held)
	select {
	case <-s.stopped:
		t.Fatal("the server has stopped")
	default:
	}
	_, err = Open(ended(), dir, log)
	require.ErrorIs(t, err, context.Canceled)
	close(h.hold)
	<-s.stopped
}
