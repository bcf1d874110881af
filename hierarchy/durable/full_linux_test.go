package durable_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// filled is the directory that a copy of this program fills up, in a way: the system refuses that
// its files grow.
const filled = "EPICYCLE_TEST_FILL"

// Open on a full disk says so, instead of waiting for room. When there is room, it works.
func TestOpenOnAFullDisk(t *testing.T) {
	inCopy(t, func(cfg durable.Config[string, string]) {
		w := open(t, cfg)
		require.NoError(t, errOf(w.Set(t.Context(), "k", strings.Repeat("v", 20_000), time.Hour)))
		require.NoError(t, w.Close())
		limitFiles(t, 1000)
		requireFull(t, cfg)
		limitFiles(t, 1<<40)
		v, _, _, err := open(t, cfg).Get(t.Context(), "k")
		require.NoError(t, err)
		require.Len(t, v, 20_000)
	})
}

// The same for another name, while one that is open waits for room.
func TestOpenOfAnotherNameOnAFullDisk(t *testing.T) {
	inCopy(t, func(cfg durable.Config[string, string]) {
		w := open(t, cfg)
		require.NoError(t, errOf(w.Set(t.Context(), "k", strings.Repeat("v", 20_000), time.Hour)))
		limitFiles(t, 1000)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.Error(t, errOf(w.Set(ctx, "k", "", time.Hour)))
		other := cfg
		other.Name = "other"
		requireFull(t, other)
		requireFull(t, other)
		limitFiles(t, 1<<40)
		require.NoError(t, errOf(w.Set(t.Context(), "k", "", time.Hour)))
		require.NoError(t, errOf(open(t, other).Set(t.Context(), "k", "", time.Hour)))
	})
}

// When too many files are open, Open says so, wherever it meets the limit. When there are fewer, it
// works, and nothing is lost.
func TestOpenWithTooManyOpenFiles(t *testing.T) {
	inCopy(t, func(cfg durable.Config[string, string]) {
		w := open(t, cfg)
		require.NoError(t, errOf(w.Set(t.Context(), "k", "v", time.Hour)))
		require.NoError(t, w.Close())
		for most := uint64(3); !opensWith(t, cfg, most); most++ {
			require.Less(t, most, uint64(200))
		}
		n, err := count(t, cfg)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// opensWith reports whether Open works with at most so many open files. If not, it must say why. The
// first three are open.
func opensWith(t *testing.T, cfg durable.Config[string, string], most uint64) bool {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = most
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	defer cancel()
	w, err := durable.Open(ctx, cfg)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	if err == nil {
		require.NoError(t, w.Close())
		return true
	}
	require.ErrorContains(t, err, "too many", "%d files", most)
	require.NoError(t, ctx.Err())
	return false
}

// When too many files are open, a log that needs another one waits, and goes on when there are fewer.
func TestTooManyOpenFilesForALog(t *testing.T) {
	inCopy(t, func(cfg durable.Config[string, string]) {
		w := open(t, cfg)
		var limit syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
		few := limit
		few.Cur = 3
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		set := 0
		for ; err == nil; set++ { // the same keys, so that the log is trimmed
			_, err = w.Set(ctx, strconv.Itoa(set%10), strings.Repeat("v", 50_000), time.Hour)
		}
		require.ErrorContains(t, w.Health(), "too many files are open")
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
		require.NoError(t, insist(func() error { return errOf(w.Set(t.Context(), "last", "", time.Hour)) }))
		require.NoError(t, w.Health())
		n, err := w.Len(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, min(set, 11))
	})
}

// inCopy has test run in a copy of this program, with a new directory.
func inCopy(t *testing.T, test func(durable.Config[string, string])) {
	if dir := os.Getenv(filled); dir != "" {
		test(durable.Config[string, string]{Dir: dir, Handle: func(context.Context, firing) error { return nil }})
		return
	}
	out, err := copyOf(t).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// copyOf is the command for a copy of this program that runs this test.
func copyOf(t *testing.T) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), filled+"="+t.TempDir())
	return cmd
}

func limitFiles(t *testing.T, size uint64) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = min(size, limit.Max)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
}

// requireFull opens the timers. It fails unless Open says that the disk is full.
func requireFull(t *testing.T, cfg durable.Config[string, string]) {
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	defer cancel()
	w, err := durable.Open(ctx, cfg)
	if err == nil {
		w.Close()
	}
	requireIsFull(t, cfg, err)
}

func requireIsFull(t *testing.T, cfg durable.Config[string, string], err error) {
	require.ErrorContains(t, err, "the disk is full")
	require.ErrorContains(t, err, cfg.Dir)
	require.False(t, errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded), "%v", err)
}
