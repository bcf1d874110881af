package durable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// keysOf are keys of which each partition has some.
func keysOf(t *testing.T, w *strs) map[int][]string {
	keys := make(map[int][]string)
	for i := range 100 {
		key := fmt.Sprint(i)
		before := w.Stats()
		require.NoError(t, w.Set(t.Context(), key, "value", time.Hour))
		for at, p := range w.Stats().Partitions {
			if p.Set > before.Partitions[at].Set {
				keys[at] = append(keys[at], key)
			}
		}
	}
	return keys
}

// Streams are deleted or purged on real servers while their owner has nothing to do, or is busy. It says
// so, and the other partitions go on. When an operator has restored the streams from a backup that has all,
// their timers are back without a restart. One that lacks what was acknowledged stays damaged.
func TestStreamsThatAreDeletedAndRestored(t *testing.T) {
	urls, _ := natsServers(t, 3)
	var r record
	nc := connect(t, urls)
	w := openShared(t, nc, &r, 2*time.Second)
	keys := keysOf(t, w)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	const idle, purged, old, busy, fine = 0, 1, 2, 3, 4
	stream := func(at int) string { return fmt.Sprintf("epicycle_timers_%d", at) }
	copies := make(map[int]streamCopy)
	for _, at := range []int{idle, purged, old, busy} {
		copies[at] = backUp(t, nc, stream(at))
	}
	require.NoError(t, w.Set(t.Context(), keys[old][0], "later", time.Hour))
	ended := make(chan error)
	go func() {
		for {
			if _, err := w.Move(context.Background(), keys[busy][0], time.Hour); err != nil {
				ended <- err
				return
			}
		}
	}()
	begun := time.Now()
	for _, at := range []int{idle, old, busy} {
		require.NoError(t, js.DeleteStream(t.Context(), stream(at)))
	}
	s, err := js.Stream(t.Context(), stream(purged))
	require.NoError(t, err)
	require.NoError(t, s.Purge(t.Context()))
	require.Eventually(t, func() bool { return w.Stats().Damaged == 4 }, time.Minute, 10*time.Millisecond)
	t.Log("said after", time.Since(begun))
	require.Error(t, <-ended)
	for at, text := range map[int]string{
		idle: "the stream epicycle_timers_0 is missing", busy: "the stream epicycle_timers_3 is missing",
		purged: "all its frames are missing",
	} {
		_, _, err := w.Remove(t.Context(), keys[at][0])
		require.ErrorIs(t, err, durable.ErrDamaged)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, w.Stats().Partitions[at].Err, text)
	}
	requirePending(t, w, keys[fine][0])
	requireMissing(t, nc, stream(idle), stream(old), stream(busy))

	require.NoError(t, js.DeleteStream(t.Context(), stream(purged)))
	for at, c := range copies {
		restore(t, nc, stream(at), c)
	}
	begun = time.Now()
	require.Eventually(t, func() bool { return w.Stats().Owned == 6 }, 5*time.Minute, 10*time.Millisecond)
	t.Log("back after", time.Since(begun))
	for _, at := range []int{idle, purged} {
		for _, key := range keys[at] {
			requirePending(t, w, key)
		}
	}
	for _, at := range []int{old, busy} {
		_, _, err := w.Remove(t.Context(), keys[at][0])
		require.ErrorIs(t, err, durable.ErrDamaged)
	}
	require.Eventually(t, func() bool {
		_, _, err := w.Remove(t.Context(), keys[old][0])
		return err != nil && strings.Contains(err.Error(), "was acknowledged")
	}, time.Minute, 100*time.Millisecond)
}

// requireMissing finds that nobody has made a stream.
func requireMissing(t *testing.T, nc *nats.Conn, streams ...string) {
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	for _, stream := range streams {
		_, err := js.Stream(t.Context(), stream)
		require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	}
}

// Without the bucket of members nobody owns anything. A worker that starts makes it again, and the others
// join again.
func TestBucketThatIsDeleted(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	nc := connect(t, urls)
	a := openShared(t, nc, &r, 2*time.Second)
	require.NoError(t, a.Set(t.Context(), "key", "value", time.Hour))
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteKeyValue(t.Context(), "epicycle_timers"))
	require.Eventually(t, func() bool {
		_, _, _, err := a.Get(t.Context(), "key")
		return errors.Is(err, durable.ErrUnavailable)
	}, time.Minute, 10*time.Millisecond)
	b := openShared(t, connect(t, urls), &r, 2*time.Second)
	require.Eventually(t, func() bool { return a.Stats().Owned == 4 && b.Stats().Owned == 4 }, time.Minute, 10*time.Millisecond)
	requirePending(t, a, "key")
	requirePending(t, b, "key")
}

// Without the marks, logs stay where they are. A process that starts says what is missing, and makes nothing.
func TestMarksThatAreDeleted(t *testing.T) {
	urls, _ := natsServers(t, 1)
	var r record
	nc := connect(t, urls)
	a := openShared(t, nc, &r, 2*time.Second)
	require.NoError(t, a.Set(t.Context(), "key", "value", time.Hour))
	const marks = "epicycle_timers_marks"
	backup := backUp(t, nc, marks)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), marks))
	require.NoError(t, a.Set(t.Context(), "key", "value", time.Hour))
	cfg := durable.Config[string, string]{Conn: connect(t, urls), Lease: 2 * time.Second, Handle: r.handle}
	_, err = durable.Open(t.Context(), cfg)
	require.ErrorIs(t, err, durable.ErrDamaged)
	require.NotContains(t, err.Error(), "durable: durable: ")
	requireMissing(t, nc, marks)
	restore(t, nc, marks, backup)
	b, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	defer b.Close()
	requirePending(t, a, "key")
	requirePending(t, b, "key")
	require.Zero(t, a.Stats().Damaged+b.Stats().Damaged)
}
