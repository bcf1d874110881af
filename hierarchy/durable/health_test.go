package durable_test

import (
	"context"
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

// A damaged log is said.
func TestHealthOfADamagedLog(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Handle: new(record).handle}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "", time.Hour)))
	require.NoError(t, w.Close())
	change(t, segment(cfg.Dir, 1), func([]byte) []byte { return nil })
	w = open(t, cfg)
	err := w.Health()
	require.ErrorIs(t, err, durable.ErrDamaged)
	require.ErrorContains(t, err, cfg.Dir)
	require.Equal(t, 1, strings.Count(err.Error(), "since 20"))
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
