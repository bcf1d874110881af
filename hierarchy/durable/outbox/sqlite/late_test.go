package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// lateDriver is the driver, with connections on which a context ends while a statement is executed.
type lateDriver struct {
	driver.Driver
	end func(statement string) error // the error of the context, if it has ended by now
}

func (d *lateDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	return &lateConn{c, d.end}, err
}

type lateConn struct {
	driver.Conn
	end func(statement string) error
}

func (c *lateConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
	if ended := c.end(q); ended != nil {
		return nil, ended // as modernc.org/sqlite does, although the statement was completed
	}
	return result, err
}

func (c *lateConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

// No transaction is left open on a connection: neither when the context ends as it begins, nor when f panics.
func TestTransactLeavesNothingOpen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	late := "BEGIN IMMEDIATE"
	sql.Register("late", &lateDriver{&sqlite.Driver{}, func(statement string) error {
		if statement == late {
			cancel()
			return ctx.Err()
		}
		return nil
	}})
	db, err := sql.Open("late", "file:"+filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE t (n INTEGER)")
	require.NoError(t, err)
	add := func(tx outbox.Execer) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		return err
	}

	require.ErrorIs(t, transact(ctx, db, add), context.Canceled)
	late = ""
	require.NoError(t, transact(t.Context(), db, add))
	require.Panics(t, func() {
		_ = transact(t.Context(), db, func(tx outbox.Execer) error {
			_ = add(tx)
			panic("f")
		})
	})
	require.NoError(t, transact(t.Context(), db, add))
	var n int
	require.NoError(t, db.QueryRow("SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 2, n)
}
