package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// A relay on PostgreSQL is woken by each transaction, whether that notifies it or not. A lost one would wait for a quarter
// of Lease.
func TestEachTransactionWakesTheRelay(t *testing.T) {
	ctx := context.Background()
	b, db := newBox(t, postgresDatabase(t), func(cfg *outbox.Config[string, string]) { cfg.Lease = time.Hour })
	w, f := openTimers(t)
	relay(t, b, w)
	for i := range 30 {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: []sql.IsolationLevel{sql.LevelDefault, sql.LevelRepeatableRead, sql.LevelSerializable}[i%3]})
		require.NoError(t, err)
		if rand.IntN(2) == 0 {
			_, err = tx.Exec("SAVEPOINT before")
			require.NoError(t, err)
			require.NoError(t, b.Set(ctx, tx, "rolled back", "", 0))
			_, err = tx.Exec("ROLLBACK TO before")
			require.NoError(t, err)
		}
		require.NoError(t, b.Set(ctx, tx, fmt.Sprint(i), "", 0))
		if rand.IntN(3) == 0 { // the relay tries to wait while it is open
			time.Sleep(time.Duration(rand.IntN(230)) * time.Millisecond)
		}
		require.NoError(t, tx.Commit())
		select {
		case key := <-f.got:
			require.Equal(t, fmt.Sprint(i), key)
		case <-time.After(time.Minute):
			require.Fail(t, "the relay was not woken", "transaction %d", i)
		}
		time.Sleep(time.Duration(85+rand.IntN(45)) * time.Millisecond) // it begins to wait about then
	}
}

// A relay that waits is quiet again after many notifications at once. While rows come, it does not wait.
func TestRelayIsQuietAfterACrowd(t *testing.T) {
	b, db := newBox(t, postgresDatabase(t))
	w, _ := openTimers(t)
	relay(t, b, w)
	awaitQuiet(t, db)
	busy := false
	for range 1000 { // if each had the relay look for a while, that would take minutes
		_, err := db.Exec("SELECT pg_notify('epicycle_outbox', '')")
		require.NoError(t, err)
		busy = busy || !waits(t, db)
	}
	require.True(t, busy, "transactions always notify")
	awaitQuiet(t, db)
}

// awaitQuiet waits until the relay has waited for a while.
func awaitQuiet(t *testing.T, db *sql.DB) {
	waited := 0
	require.Eventually(t, func() bool {
		if waited++; !waits(t, db) {
			waited = 0
		}
		return waited > 30
	}, time.Minute, 10*time.Millisecond)
}

// waits reports whether the relay waits for a notification.
func waits(t *testing.T, db *sql.DB) bool {
	var locks int
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&locks))
	return locks > 0
}
