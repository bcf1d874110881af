package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// insert sets a far timer of each key, in a transaction each.
func insert(t *testing.T, b *box, db *sql.DB, value string, in time.Duration, keys ...string) {
	for _, k := range keys {
		tx := begin(t, db)
		require.NoError(t, b.Set(t.Context(), tx, k, value, in))
		require.NoError(t, tx.Commit())
	}
}

// keysByPartition returns keys of each partition of a set of timers.
func keysByPartition(t *testing.T, w *keyed) map[int][]string {
	keys := make(map[int][]string)
	for i := range 200 {
		k := fmt.Sprint("key", i)
		before := w.Stats()
		_, err := w.Set(t.Context(), k, "", time.Hour)
		require.NoError(t, err)
		for at, p := range w.Stats().Partitions {
			if p.Set > before.Partitions[at].Set {
				keys[at] = append(keys[at], k)
			}
		}
		_, _, err = w.Remove(t.Context(), k)
		require.NoError(t, err)
	}
	return keys
}

// awaitBacklog waits until the backlog is as it should be.
func awaitBacklog(t *testing.T, b *box, is func(outbox.Backlog) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		l, err := b.Backlog(context.Background())
		require.NoError(t, err)
		return is(l)
	}, time.Minute, 5*time.Millisecond)
}

// reasonOf returns the columns of the row of a key that say why it waits.
func reasonOf(t *testing.T, db *sql.DB, key string) (attempts int, next sql.NullInt64, failed sql.NullString) {
	require.NoError(t, db.QueryRow(`SELECT attempts, next, failed FROM epicycle_outbox WHERE key = $1 ORDER BY id DESC LIMIT 1`,
		[]byte(fmt.Sprintf("%q", key))).Scan(&attempts, &next, &failed))
	return attempts, next, failed
}

// One of the logs is damaged: the timers of all others are set once. Those of the damaged one wait, and say why.
func TestDamagedPartitionHoldsUpNoOther(t *testing.T) {
	t.Parallel() // it waits until the log is taken for damaged
	f := &fired{got: make(chan string, 1<<16)}
	w, keys := openDamaged(t, 4, 2, f)
	b, db := newBox(t, sqliteIn(t.TempDir()))
	total := 0
	for i := range 20 { // mixed, so that each page has some of each
		for at := range 4 {
			insert(t, b, db, "v", 0, keys[at][i])
		}
		total += 3
	}
	relay(t, b, w)
	for range total {
		<-f.got
	}
	awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Rows == 20 && l.Waiting == 20 })
	require.Eventually(t, func() bool { n, _, _ := reasonOf(t, db, keys[2][0]); return n >= 4 }, time.Minute, 5*time.Millisecond)
	_, next, failed := reasonOf(t, db, keys[2][0])
	require.Positive(t, next.Int64)
	require.Contains(t, failed.String, "damaged")

	insert(t, b, db, "v", 0, keys[0][20], keys[2][0], keys[1][20]) // a second row of a key that waits
	assert.ElementsMatch(t, []string{keys[0][20], keys[1][20]}, []string{<-f.got, <-f.got})
	awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Rows == 21 && l.Waiting == 21 })
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Len(t, f.all, total+2, "nothing is passed on twice")
}

// onServers returns a configuration of timers with several partitions.
func onServers(t *testing.T, partitions int, f *fired) durable.Config[string, string] {
	s, err := servers.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return durable.Config[string, string]{Conn: s.Conn(), Partitions: partitions, Lease: time.Minute, Handle: f.handle}
}

// openDamaged opens timers, and damages the log of a partition, which its owner notices when it writes. It returns keys of
// each partition.
func openDamaged(t *testing.T, partitions, damaged int, f *fired) (*keyed, map[int][]string) {
	cfg := onServers(t, partitions, f)
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	keys := keysByPartition(t, w)
	js, err := jetstream.New(cfg.Conn)
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), fmt.Sprint("epicycle_timers_", damaged)))
	require.Eventually(t, func() bool {
		_, err := w.Set(t.Context(), keys[damaged][0], "", time.Hour)
		return errors.Is(err, durable.ErrDamaged)
	}, time.Minute, time.Millisecond)
	require.Equal(t, 1, w.Stats().Damaged)
	return w, keys
}

// A partition is full: it takes as many as it has room for, and the others as soon as there is room. Operations on a key
// keep their order, also those that come while an earlier one waits.
func TestFullPartition(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		cfg := onServers(t, 2, &fired{got: make(chan string, 1)})
		w, err := durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		keys := keysByPartition(t, w)
		require.NoError(t, w.Close())
		cfg.Name, cfg.MaxPending = "full", 5
		w, err = durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		defer w.Close()

		b, db := newBox(t, d)
		insert(t, b, db, "1", time.Hour, keys[0][:9]...)
		insert(t, b, db, "1", time.Hour, keys[1][:3]...)
		relay(t, b, w)
		awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Rows == 4 && l.Waiting == 4 })
		_, _, failed := reasonOf(t, db, keys[0][8])
		require.Contains(t, failed.String, "full")

		insert(t, b, db, "2", time.Hour, keys[0][8], keys[0][0], keys[1][3]) // the first has to wait for its earlier one
		tx := begin(t, db)
		require.NoError(t, b.Remove(t.Context(), tx, keys[0][7])) // this, too
		require.NoError(t, tx.Commit())
		awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Rows == 6 && l.Waiting == 6 })
		require.Equal(t, map[string]string{keys[0][0]: "2", keys[0][1]: "1", keys[0][2]: "1", keys[0][3]: "1", keys[0][4]: "1",
			keys[1][0]: "1", keys[1][1]: "1", keys[1][2]: "1", keys[1][3]: "2"}, valuesOf(t, w))

		for _, k := range keys[0][:5] {
			_, _, err = w.Remove(t.Context(), k)
			require.NoError(t, err)
		}
		require.Zero(t, drained(t, b).Failed)
		require.Equal(t, map[string]string{keys[0][5]: "1", keys[0][6]: "1", keys[0][8]: "2",
			keys[1][0]: "1", keys[1][1]: "1", keys[1][2]: "1", keys[1][3]: "2"}, valuesOf(t, w))
	})
}

func valuesOf(t *testing.T, w *keyed) map[string]string {
	values := make(map[string]string)
	for e, err := range w.All(t.Context()) {
		require.NoError(t, err)
		values[e.Key] = e.Value
	}
	return values
}

// A row that is refused for good stays, and is tried again when somebody says so.
func TestRefusedIsTriedAgain(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		b, db := newBox(t, d)
		w, f := openTimers(t)
		insert(t, b, db, "v", 0, "bad")
		_, err := db.Exec(`UPDATE epicycle_outbox SET op = 77`)
		require.NoError(t, err)
		relay(t, b, w)
		awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Failed == 1 && l.Rows == 0 })
		_, err = db.Exec(`UPDATE epicycle_outbox SET op = 1, next = 1`)
		require.NoError(t, err)
		require.Equal(t, "bad", <-f.got)
		require.Zero(t, drained(t, b).Failed)
	})
}
