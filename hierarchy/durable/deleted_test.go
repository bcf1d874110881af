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
		require.NoError(t, insist(func() error {
			_, err := w.Set(t.Context(), key, "value", time.Hour)
			return err
		}))
		for at, p := range w.Stats().Partitions {
			if p.Set > before.Partitions[at].Set {
				keys[at] = append(keys[at], key)
			}
		}
	}
	return keys
}

// Streams are deleted or purged on real servers whose owner writes a little later, or is busy. It says so, and
// the other partitions go on. When an operator has restored a stream from a backup that has all, its timers
// are back without a restart. One that lacks what was acknowledged stays damaged.
func TestStreamsThatAreDeletedAndRestored(t *testing.T) {
	t.Parallel() // it waits for leases
	urls, _ := natsServers(t, 3)
	var r record
	nc := connect(t, urls)
	w := openShared(t, nc, &r, 2*time.Second)
	keys := keysOf(t, w)
	const quiet, purged, old, busy, fine = 0, 1, 2, 3, 4
	stream := func(at int) string { return fmt.Sprintf("epicycle_timers_%d", at) }
	copies := backUpAll(t, nc, stream(quiet), stream(purged), stream(old), stream(busy))
	require.NoError(t, insist(func() error {
		_, err := w.Set(t.Context(), keys[old][0], "later", time.Hour)
		return err
	}))
	ended := make(chan bool)
	go func() { moveUntilDamaged(w, keys[busy][0]); close(ended) }()
	purge(t, nc, stream(purged))
	require.NoError(t, insist(func() error {
		_, err := w.Set(t.Context(), keys[purged][0], "later", time.Hour)
		return err
	}))
	deleteStreams(t, nc, stream(quiet), stream(old), stream(busy))
	waitFor(t, "said", func() bool {
		moveSoon(w, keys[quiet][0])
		moveSoon(w, keys[old][0])
		return w.Stats().Damaged == 4
	})
	<-ended
	for at, text := range map[int]string{
		quiet: "the stream epicycle_timers_0 is missing", busy: "the stream epicycle_timers_3 is missing",
		purged: "and must begin at 1",
	} {
		requireDamaged(t, w, at, keys[at][0], text)
	}
	requirePending(t, w, keys[fine][0])
	requireMissing(t, nc, stream(quiet), stream(old), stream(busy))

	deleteStreams(t, nc, stream(purged))
	for name, c := range copies {
		restore(t, nc, name, c)
	}
	waitFor(t, "back", func() bool { return w.Stats().Owned == 5 })
	for _, key := range keys[quiet] {
		requirePending(t, w, key)
	}
	for _, at := range []int{purged, old, busy} {
		requireDamaged(t, w, at, keys[at][0], "")
		waitFor(t, "said", func() bool { return lacks(w, keys[at][0]) })
	}
}

// lacks reports whether the log of a key is said to lack what was acknowledged.
func lacks(w *strs, key string) bool {
	_, _, err := w.Remove(context.Background(), key)
	return err != nil && strings.Contains(err.Error(), "was acknowledged")
}

func backUpAll(t *testing.T, nc *nats.Conn, streams ...string) map[string]streamCopy {
	copies := make(map[string]streamCopy)
	for _, stream := range streams {
		copies[stream] = backUp(t, nc, stream)
	}
	return copies
}

func waitFor(t *testing.T, what string, is func() bool) {
	begun := time.Now()
	require.Eventually(t, is, 5*time.Minute, 10*time.Millisecond)
	t.Log(what, "after", time.Since(begun))
}

// moveSoon writes to a log that may not answer.
func moveSoon(w *strs, key string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _, _ = w.Move(ctx, key, time.Hour)
}

func moveUntilDamaged(w *strs, key string) {
	for err := error(nil); !errors.Is(err, durable.ErrDamaged) && !errors.Is(err, durable.ErrClosed); {
		_, _, err = w.Move(context.Background(), key, time.Hour)
	}
}

func deleteStreams(t *testing.T, nc *nats.Conn, streams ...string) {
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	for _, stream := range streams {
		require.NoError(t, js.DeleteStream(t.Context(), stream))
	}
}

func purge(t *testing.T, nc *nats.Conn, stream string) {
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	s, err := js.Stream(t.Context(), stream)
	require.NoError(t, err)
	require.NoError(t, s.Purge(t.Context()))
}

// requireDamaged finds that a partition is damaged, which has that key. The error says so with that text.
func requireDamaged(t *testing.T, w *strs, at int, key, text string) {
	_, _, err := w.Remove(t.Context(), key)
	require.ErrorIs(t, err, durable.ErrDamaged)
	require.ErrorContains(t, err, text)
	require.ErrorContains(t, w.Stats().Partitions[at].Err, text)
}

// requireMissing finds that nobody has made a stream.
func requireMissing(t *testing.T, nc *nats.Conn, streams ...string) {
	js, err := jetstream.New(nc, answersLate)
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
	require.NoError(t, insist(func() error {
		_, err := a.Set(t.Context(), "key", "value", time.Hour)
		return err
	}))
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	require.NoError(t, js.DeleteKeyValue(t.Context(), "epicycle_timers"))
	require.Eventually(t, func() bool { return a.Stats().Owned == 0 }, time.Minute, 10*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _, _, err = a.Get(ctx, "key")
	require.ErrorIs(t, err, context.DeadlineExceeded) // calls wait for an owner
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
	require.NoError(t, insist(func() error {
		_, err := a.Set(t.Context(), "key", "value", time.Hour)
		return err
	}))
	const marks = "epicycle_timers_marks"
	backup := backUp(t, nc, marks)
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), marks))
	require.NoError(t, insist(func() error {
		_, err := a.Set(t.Context(), "key", "value", time.Hour)
		return err
	}))
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
