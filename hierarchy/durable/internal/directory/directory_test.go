package directory

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// holding is the directory that a copy of this program has open until its input ends.
const holding = "EPICYCLE_TEST_HOLD"

func TestMain(m *testing.M) {
	dir := os.Getenv(holding)
	if dir == "" {
		goleak.VerifyTestMain(m)
		return
	}
	l, err := Open(context.Background(), dir, "timers")
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		return
	}
	os.Stdout.WriteString("open\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	l.Close()
}

// hold has another process open a directory. It returns what the process says, and what ends it.
func hold(t *testing.T, dir string) (said string, end func()) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holding+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return said, func() {
		in.Close()
		require.NoError(t, cmd.Wait())
	}
}

func opened(t *testing.T, dir, name string) *Log {
	l, err := Open(t.Context(), dir, name)
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

// One process at a time has a directory, while it has any log of it.
func TestAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	a, b := opened(t, dir, "a"), opened(t, dir, "b")
	said, end := hold(t, dir)
	end()
	require.Contains(t, said, errInUse.Error())
	a.Close()
	said, end = hold(t, dir)
	end()
	require.Contains(t, said, errInUse.Error())
	b.Close()
	b.Close() // which does nothing
	said, end = hold(t, dir)
	require.Equal(t, "open\n", said)
	_, err := Open(t.Context(), dir, "a")
	require.ErrorIs(t, err, errInUse)
	end()
	opened(t, dir, "a")
}

// A log is open once, however its directory is called.
func TestNamesAreOpenOnce(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, "a")
	require.NoError(t, a.Append(t.Context(), 0, []byte("message")))
	other := filepath.Join(t.TempDir(), "link")
	if os.Symlink(dir, other) != nil {
		other = filepath.Join(dir, "x", "..")
	}
	_, err := Open(t.Context(), other, "a")
	require.ErrorIs(t, err, ErrName)
	_, err = Open(t.Context(), dir, "A")
	require.ErrorIs(t, err, ErrName)
	opened(t, other, "b")
	a.Close()
	data, err := opened(t, other, "a").Get(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "message", string(data))
}

// Names that are no files on Windows are refused everywhere, so that a directory can be taken there.
func TestNamesOfDevices(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"con", "NUL", "aux.timers", "com1", "LPT9"} {
		_, err := Open(t.Context(), dir, name)
		require.ErrorIs(t, err, ErrName, name)
	}
	for _, name := range []string{"console", "com", "com10", "lpt", "timers.con"} {
		opened(t, dir, name)
	}
}

// An Open of a log that is being closed waits for that, and no longer than its context. Other logs and directories do
// not wait.
func TestOpenWaitsForClose(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, "a")
	a.dir.begin(a) // as Close does, before it waits for the disk
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := Open(ctx, dir, "a")
		failed <- err
	}()
	got := make(chan *Log)
	go func() {
		l, err := Open(t.Context(), dir, "a")
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	opened(t, dir, "b").Close()
	opened(t, t.TempDir(), "a").Close()
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	select {
	case <-got:
		t.Error("it is not closed")
	case <-time.After(20 * time.Millisecond):
	}
	a.Close()
	if l := <-got; l != nil {
		l.Close()
	}
}

// What was opened after its Open had been given up is closed again.
func TestOpenThatNobodyWaitsFor(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, "a")
	a.dir.mu.Lock() // as while the disk hangs
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		time.Sleep(time.Millisecond)
		cancel()
	}()
	_, err := Open(ctx, dir, "b")
	require.ErrorIs(t, err, context.Canceled)
	again := make(chan error)
	go func() { // which waits until the first one is closed
		l, err := Open(t.Context(), dir, "b")
		if err == nil {
			l.Close()
		}
		again <- err
	}()
	time.Sleep(5 * time.Millisecond)
	a.dir.mu.Unlock()
	require.NoError(t, <-again)
	require.Eventually(t, func() bool {
		dirs.mu.Lock()
		defer dirs.mu.Unlock()
		return a.dir.users == 1
	}, time.Minute, time.Millisecond)
}

// A directory that was deleted is closed before another one in its place is opened.
func TestGone(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("Windows keeps files that are open")
	}
	dir := filepath.Join(t.TempDir(), "timers")
	a := opened(t, dir, "a")
	require.NoError(t, os.RemoveAll(dir))
	require.Eventually(t, func() bool { return a.Gone() != nil }, time.Minute, time.Millisecond)
	_, err := Open(t.Context(), dir, "a")
	require.ErrorContains(t, err, "has to be closed first")
	a.Close()
	opened(t, dir, "a")
}

// A log that is too damaged to be opened keeps its directory nevertheless, and is closed like others.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	a := opened(t, dir, "a")
	require.NoError(t, a.SetMark(t.Context(), storage.Mark{Number: 1}))
	a.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "logs", "a.mark"), make([]byte, 9000), 0o600))
	a = opened(t, dir, "a")
	require.Nil(t, a.Log)
	require.ErrorIs(t, a.Damage, storage.ErrDamaged)
	_, err := Open(t.Context(), dir, "a")
	require.ErrorIs(t, err, ErrName)
	a.Close()
	require.ErrorIs(t, opened(t, dir, "a").Damage, storage.ErrDamaged)
}

// Directories of another format are left as they are.
func TestAnotherFormat(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "version")
	require.NoError(t, os.WriteFile(file, []byte("another"), 0o600))
	_, err := Open(t.Context(), dir, "a")
	require.ErrorIs(t, err, errFormat)
	require.NoDirExists(t, filepath.Join(dir, "logs"))
	require.NoError(t, os.Remove(file))
	opened(t, dir, "a")
}
