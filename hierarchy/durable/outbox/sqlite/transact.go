package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// transact calls f in a transaction that has the lock for writing from the beginning.
//
// SQLite has no queue for that lock. With a busy_timeout, a connection looks again and again whether the lock is free,
// soon only every 100 ms. If some goroutines write without a pause, it is hardly ever free at these moments, and the
// relay would wait for seconds. So transact looks itself, every half a millisecond.
func transact(ctx context.Context, db *sql.DB, f func(outbox.Execer) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	committed := false
	defer func() {
		if !committed {
			rollBack(ctx, conn)
		}
	}()
	if err := begin(ctx, conn); err != nil {
		return err
	}
	if err := f(conn); err != nil {
		return err
	}
	err = insist(ctx, conn, "COMMIT")
	committed = err == nil
	return err
}

// begin begins a transaction, without the busy_timeout. The statements in it have that again.
func begin(ctx context.Context, conn *sql.Conn) error {
	restore, err := impatient(ctx, conn)
	if err != nil {
		return err
	}
	defer restore()
	return insist(ctx, conn, "BEGIN IMMEDIATE")
}

// rollBack ends a transaction, if there is one. A driver may return the error of a context that ended during BEGIN,
// although the transaction has begun. If it can't be ended, the connection is discarded.
func rollBack(ctx context.Context, conn *sql.Conn) {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
		discard(conn)
	}
}

// discard closes a connection instead of returning it to the pool.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// impatient sets the busy_timeout of a connection to 0. restore sets it back, or discards the connection.
func impatient(ctx context.Context, conn *sql.Conn) (restore func(), err error) {
	var before int
	if err := conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&before); err != nil {
		return nil, err
	}
	set := func(ctx context.Context, timeout int) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", timeout))
		return err
	}
	restore = func() {
		if set(context.WithoutCancel(ctx), before) != nil {
			discard(conn)
		}
	}
	if err := set(ctx, 0); err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// insist executes a statement, as soon as no other connection has the lock.
func insist(ctx context.Context, conn *sql.Conn, statement string) error {
	for {
		_, err := conn.ExecContext(ctx, statement)
		if err == nil || !isBusy(err) {
			return err
		}
		t := time.NewTimer(time.Duration(rand.Int64N(int64(time.Millisecond)))) // random, so as not to keep time with others
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}

// isBusy reports whether another connection has the lock: of the database or, with a shared cache, of a table. The errors
// of drivers have different types.
func isBusy(err error) bool {
	return strings.Contains(err.Error(), "is locked") || strings.Contains(err.Error(), "SQLITE_BUSY")
}
