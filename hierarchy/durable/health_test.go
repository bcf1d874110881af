package durable_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// becomes waits until Health says something, or nothing if text is "".
func becomes(t testing.TB, w *strs, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := w.Health()
		return err == nil && text == "" || err != nil && text != "" && strings.Contains(err.Error(), text)
	}, time.Minute, time.Millisecond, text)
}

// Handlers that hang take all places. One that returns gives a place back.
func TestHealthOfHandlersThatHang(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Concurrency: 2, Handle: func(context.Context, firing) error {
		entered <- true
		<-leave
		return nil
	}})
	require.NoError(t, w.Health())
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", 0)))
	<-entered
	require.NoError(t, errOf(w.Set(t.Context(), "b", "", 0)))
	<-entered
	becomes(t, w, "durable: all 2 places for handlers are taken, and none has come free, since 20")
	leave <- true
	becomes(t, w, "")
	close(leave)
	require.NoError(t, w.Shutdown(t.Context()))
	require.True(t, strings.HasPrefix(w.Health().Error(), "durable: "))
	require.ErrorIs(t, w.Health(), durable.ErrClosed)
}

// A damaged log is said with its partition. The others say nothing.
func TestHealthOfADamagedLog(t *testing.T) {
	dir := t.TempDir()
	cfg := durable.Config[string, string]{Dir: dir, Handle: new(record).handle}
	w := open(t, cfg)
	keysOf(t, w)
	require.NoError(t, w.Close())
	blocks, err := filepath.Glob(filepath.Join(dir, "streams", "*", "*", "streams", "epicycle_timers_3", "msgs", "*.blk"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(blocks[0], 0))
	w = open(t, cfg)
	err = w.Health()
	require.ErrorIs(t, err, durable.ErrDamaged)
	require.Equal(t, 1, strings.Count(err.Error(), "since 20"))
	require.Contains(t, err.Error(), "partition 3")
}

// When a majority of the servers is lost, neither a worker nor a caller says that it is healthy.
func TestHealthWithoutAMajority(t *testing.T) {
	urls, all := natsServers(t, 3)
	const lease = 2 * time.Second
	w := openShared(t, connect(t, urls), new(record), lease)
	asks := caller(t, urls)
	becomes(t, w, "")
	becomes(t, asks, "")
	for _, s := range all[1:] {
		s.Shutdown()
	}
	begun := time.Now()
	becomes(t, w, "since 20")
	t.Log("the worker says so after", time.Since(begun))
	becomes(t, asks, "no process owns the partition, since 20")
	t.Log("the caller says so after", time.Since(begun))
}
