package embedded

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// held is the directory that a copy of this program holds, until its input ends.
const held = "EPICYCLE_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(held); dir != "" {
		s, err := Open(context.Background(), dir, slog.New(slog.DiscardHandler))
		if err != nil {
			os.Exit(3)
		}
		os.Stdout.WriteString("open\n")
		io.Copy(io.Discard, os.Stdin)
		s.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startHolder starts a process that has dir open.
func startHolder(t *testing.T, dir string) (process *os.Process, end io.Closer) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), held+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open\n", line)
	return cmd.Process, in
}

func openDir(dir string) (*Share, error) {
	return Open(context.Background(), dir, slog.New(slog.DiscardHandler))
}

func TestOneProcessHasADirectory(t *testing.T) {
	dir := t.TempDir()
	process, _ := startHolder(t, dir)
	_, err := openDir(dir)
	require.ErrorIs(t, err, errInUse)
	require.ErrorContains(t, err, dir)
	require.NoError(t, process.Kill())
	_, err = process.Wait()
	require.NoError(t, err)
	s, err := openDir(dir) // the dead have no lock
	require.NoError(t, err)
	s.Close()
}

func TestOpensInOneProcessShareTheServer(t *testing.T) {
	dir := t.TempDir()
	a, err := openDir(dir)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	b, err := openDir(link)
	require.NoError(t, err)
	require.Same(t, a.Server, b.Server)
	a.Close()
	require.True(t, b.Conn().IsConnected())
	b.Close()
	require.True(t, b.Conn().IsClosed())
	c, err := openDir(dir)
	require.NoError(t, err)
	require.NotSame(t, a.Server, c.Server)
	c.Close()
}

func TestDirectoryOfAnotherFormat(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "version"), []byte("epicycle durable timers, format 2\n"), 0o600))
	_, err := openDir(dir)
	require.ErrorIs(t, err, errVersion)
	require.ErrorContains(t, err, "format 2")
	require.NoError(t, os.Remove(filepath.Join(dir, "version")))
	s, err := openDir(dir) // the failure has left no lock
	require.NoError(t, err)
	s.Close()
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := openDir(file)
	require.Error(t, err)
	require.ErrorContains(t, err, file)
	_, err = openDir(filepath.Join(file, "below"))
	require.Error(t, err)
}

func TestDirectoryWithoutPermission(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("root may do anything, and Windows has other permissions")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	_, err := openDir(dir)
	require.ErrorIs(t, err, os.ErrPermission)
}
