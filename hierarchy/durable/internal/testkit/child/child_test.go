package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const variable = "EPICYCLE_CHILD_TEST"

// The test binary is the process that is started, too. It repeats what it is told, and fails when it is told to.
func TestMain(m *testing.M) {
	Main(variable, func(prefix string, in io.Reader, out io.Writer) error {
		fmt.Fprintln(out, prefix, "is here")
		for s := bufio.NewScanner(in); s.Scan(); {
			if s.Text() == "fail" {
				fmt.Fprint(out, "cut off")
				return errors.New("failed as it was told to")
			}
			fmt.Fprintln(out, prefix, s.Text())
		}
		return nil
	})
	os.Exit(m.Run())
}

func begin(t *testing.T) (p *Process, lines chan string) {
	lines = make(chan string, 10)
	p, err := Start(Spec{Variable: variable, Config: "x", Line: func(line string) error {
		if line == "x bad" {
			return errors.New("a bad line")
		}
		lines <- line
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(p.End)
	require.Equal(t, "x is here", <-lines)
	return p, lines
}

// A process hears what it is told and is heard, until its input ends.
func TestTalk(t *testing.T) {
	p, lines := begin(t)
	require.NoError(t, p.Tell("hello"))
	require.Equal(t, "x hello", <-lines)
	require.NoError(t, p.In.Close())
	<-p.Ended()
	require.NoError(t, p.Err())
	require.False(t, p.Expected())
}

// The error of a process has what it wrote to its errors. A line that was cut off is none.
func TestFails(t *testing.T) {
	p, lines := begin(t)
	require.NoError(t, p.Tell("fail"))
	<-p.Ended()
	require.EqualError(t, p.Err(), "exit status 1: failed as it was told to")
	require.Empty(t, lines)
}

// What is wrong with a line ends the process.
func TestBadLine(t *testing.T) {
	p, lines := begin(t)
	require.NoError(t, p.Tell("bad"))
	<-p.Ended()
	require.EqualError(t, p.Err(), "a bad line")
	require.False(t, p.Expected())
	require.Empty(t, lines)
}

// A process is killed also while it is stopped.
func TestKill(t *testing.T) {
	p, lines := begin(t)
	if CanStop {
		require.NoError(t, p.Stop())
		require.NoError(t, p.Tell("hello"))
		require.NoError(t, p.GoOn())
		require.Equal(t, "x hello", <-lines)
		require.NoError(t, p.Stop())
	}
	p.End()
	require.Error(t, p.Err())
	require.True(t, p.Expected())
	p.End()
}

// What a process says can go to a file, after what is in it.
func TestLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(log, []byte("before\n"), 0o600))
	p, err := Start(Spec{Variable: variable, Config: "y", Log: log})
	require.NoError(t, err)
	require.NoError(t, p.Tell("fail"))
	<-p.Ended()
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "before\ny is here\ncut offfailed as it was told to\n", string(b))
	_, err = Start(Spec{Variable: variable, Log: filepath.Join(log, "x")})
	require.Error(t, err)
	_, err = Start(Spec{Program: log})
	require.Error(t, err)
}
