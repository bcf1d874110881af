package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// A transaction waits for the lock, whatever the busy_timeout, gives up with its context, and leaves the connection as
// it was.
func TestTransact(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(1234)")
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(2)
	ctx := t.Context()
	add := func(tx outbox.Execer) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
		return err
	}
	_, err = db.Exec("CREATE TABLE t (n INTEGER)")
	require.NoError(t, err)

	other, err := db.Conn(ctx)
	require.NoError(t, err)
	_, err = other.ExecContext(ctx, "BEGIN IMMEDIATE")
	require.NoError(t, err)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, transact(short, db, add), context.DeadlineExceeded)
	done := make(chan error)
	go func() { done <- transact(ctx, db, add) }()
	select {
	case err := <-done:
		require.Fail(t, "it did not wait", err)
	case <-time.After(50 * time.Millisecond):
	}
	_, err = other.ExecContext(ctx, "COMMIT")
	require.NoError(t, err)
	require.NoError(t, <-done)

	bad := errors.New("bad")
	require.ErrorIs(t, transact(ctx, db, func(tx outbox.Execer) error { return errors.Join(add(tx), bad) }), bad)
	require.NoError(t, other.Close())
	for range 2 { // both connections
		c, err := db.Conn(ctx)
		require.NoError(t, err)
		defer c.Close()
		var n, timeout int
		require.NoError(t, c.QueryRowContext(ctx, "SELECT count(*) FROM t").Scan(&n))
		require.NoError(t, c.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&timeout))
		require.Equal(t, []int{1, 1234}, []int{n, timeout})
	}
}

// The statements of a transaction wait for locks as long as the connection's busy_timeout says.
func TestTransactKeepsTheTimeout(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=busy_timeout(1234)")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, transact(t.Context(), db, func(tx outbox.Execer) error {
		var timeout int
		err := tx.(*sql.Conn).QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&timeout)
		require.Equal(t, 1234, timeout)
		return err
	}))
}
