package embedded

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatWriteErrorsMean(t *testing.T) {
	const line = "Filestore [a] Critical write error: write /d/2.blk: no space left on device"
	require.True(t, wasWriteError(line))
	require.True(t, wasWriteError("JetStream stream 'a > b' critical write error: oh"))
	require.False(t, wasWriteError("Filestore [a] no space left on device"))
	require.True(t, lacksRoom(line))
	require.True(t, lacksRoom("critical write error: write x: There is not enough space on the disk."))
	require.False(t, lacksRoom("critical write error: write /d/2.blk: input/output error"))
	require.False(t, lacksRoom("critical write error: sync /d/2.blk: no space left on device"))
	require.Equal(t, "the disk is full", passing(line))
	require.Equal(t, "too many files are open", passing("critical write error: open /d/2.blk: too many open files"))
	require.Empty(t, passing(noSync))
}

const (
	noRoom = "Filestore [a] Critical write error: write /d/1.blk: no space left on device"
	noSync = "Filestore [b] Critical write error: sync /d/2.blk: input/output error"
)

// requireLost has the server of a new directory fail in a way that loses something. fail gets a function
// that takes lines of its log. The log of the server is log.
func requireLost(t *testing.T, log *slog.Logger, fail func(failed func(line string))) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, log)
	require.NoError(t, err)
	fail(func(line string) { (&logger{Server: s.Server}).Errorf("%s", line) })
	for s.unsynced() == nil || s.runs() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(2 * probeEvery) // in which it would be started again
	require.False(t, s.runs())
	require.ErrorContains(t, s.Problem(), "input/output error")
	require.ErrorContains(t, s.Problem(), "until the process starts again")
	s.Close()
	_, err = openDir(dir)
	require.ErrorContains(t, err, dir)
	require.ErrorContains(t, err, "until the process starts again")
}

// runs reports whether there is a NATS server.
func (s *Server) runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server != nil
}

// A server that may have lost something is not started again, also if it lacked room before.
func TestSecondFailureIsNotForgotten(t *testing.T) {
	t.Parallel()
	requireLost(t, slog.New(slog.DiscardHandler), func(failed func(string)) {
		failed(noRoom)
		failed(noSync)
		failed(noRoom)
	})
}

// The same when the second failure comes while the server is started again.
func TestFailureWhileTheServerStartsAgain(t *testing.T) {
	t.Parallel()
	h, log := hold("Starting JetStream")
	go func() {
		<-h.held // the first start
		h.hold <- true
	}()
	requireLost(t, log, func(failed func(string)) {
		failed(noRoom)
		<-h.held
		failed(noSync)
		close(h.hold)
	})
}

// And when it comes at the end of a start that has failed.
func TestFailureOfAStartThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newServer(dir)
	s.failed(noRoom)
	require.NoError(t, os.WriteFile(streams(dir), nil, 0o600))
	require.False(t, s.again())
	require.ErrorContains(t, s.Problem(), "not a directory")
	s.failed(noSync)
	require.NoError(t, os.Remove(streams(dir)))
	require.False(t, s.again())
	require.False(t, s.runs())
	require.ErrorContains(t, s.Problem(), "input/output error")
}

func TestOnProblem(t *testing.T) {
	s := newServer(t.TempDir())
	told := make(chan error, 2)
	defer s.OnProblem(func(err error) { told <- err })()
	require.True(t, s.OnProblem(func(err error) { told <- err })())
	s.failed(noRoom)
	require.ErrorContains(t, <-told, "the disk is full")
	defer s.OnProblem(func(err error) { told <- err })()
	require.ErrorContains(t, <-told, "the disk is full") // it has it already
	require.Empty(t, told)
}

// A server that can't open what it has to read goes on as if there were nothing. That is a problem, which
// other warnings are not.
func TestStreamThatIsNotRead(t *testing.T) {
	s := newServer(t.TempDir())
	l := &logger{Server: s}
	l.Warnf("  Detected orphaned stream %q, will cleanup", "other")
	require.NoError(t, s.Problem())
	l.Warnf("  Error reading metafile %q: open: too many open files", "meta.inf")
	require.ErrorContains(t, s.Problem(), "too many files are open")
}
