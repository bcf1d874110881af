package outbox_test

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// failingAlways is timers that accept nothing.
type failingAlways struct{ err error }

func (f failingAlways) Batch(context.Context, *batch) error { return f.err }

// countingTx counts the rows that are put behind an earlier row of their key.
type countingTx struct {
	outbox.Execer
	behind *atomic.Int64
}

func (c countingTx) ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error) {
	result, err := c.Execer.ExecContext(ctx, q, args...)
	if err == nil && strings.Contains(q, "an earlier row of the key waits") {
		n, _ := result.RowsAffected()
		c.behind.Add(n)
	}
	return result, err
}

// Rows behind one that fails again and again get a new time at most once at each of its attempts.
func TestRowsBehindAreUpdatedOnce(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		const more = 30
		var behind atomic.Int64
		b, db := newBox(t, d, func(c *outbox.Config[string, string]) {
			within := c.Dialect.Transact
			if within == nil {
				within = inTx
			}
			c.Dialect.Transact = func(ctx context.Context, db *sql.DB, f func(outbox.Execer) error) error {
				return within(ctx, db, func(tx outbox.Execer) error { return f(countingTx{tx, &behind}) })
			}
		})
		insert(t, b, db, "v", time.Hour, "k")
		stop := relay(t, b, failingAlways{durable.ErrDamaged})
		first := func() (attempts int) {
			require.NoError(t, db.QueryRow(`SELECT attempts FROM epicycle_outbox ORDER BY id LIMIT 1`).Scan(&attempts))
			return attempts
		}
		awaitAttempts := func(n int) {
			require.Eventually(t, func() bool { return first() >= n }, time.Minute, 5*time.Millisecond)
		}
		awaitAttempts(2) // so that the others are due before it later
		tx := begin(t, db)
		for range more {
			require.NoError(t, b.Set(t.Context(), tx, "k", "v", time.Hour))
		}
		require.NoError(t, tx.Commit())
		awaitAttempts(5)
		stop()
		require.GreaterOrEqual(t, behind.Load(), int64(more))
		require.LessOrEqual(t, behind.Load(), int64(more*first()))
	})
}

func inTx(ctx context.Context, db *sql.DB, f func(outbox.Execer) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
