package outbox

import (
	"context"
	"database/sql"
	"time"
)

// Dialect describes the differences between databases. The packages postgres and sqlite have a Dialect each. In the
// statements, %[1]s stands for the name of the table.
type Dialect struct {
	// Name is the name of the database, for errors.
	Name string
	// Create creates the tables, if they do not exist: %[1]s with the columns id, op, key, value, due, made, attempts,
	// next and failed, and %[1]s_relay with the columns one, holder and renewed. They insert one row into %[1]s_relay,
	// with one = 1, an empty holder, and renewed = 0. The statements are executed in one transaction.
	//
	// The columns attempts and next are 0 and failed is NULL in a new row: see Box.Relay. The relay looks for rows with
	// next = 0 in the order of id, for rows with next > 0 in the order of next, and for rows of a key with next > 0 in
	// the order of id + 0. Each needs an index of only these rows, so that the relay does not read the rows that wait
	// again and again.
	Create []string
	// Insert inserts a row. Its parameters are op, key, value, due, made, and a hash of the key. Rows with the same key
	// must get IDs in the order in which their transactions are committed.
	Insert string
	// Listen calls wake after each commit of a transaction that has inserted rows, until ctx ends. It may call wake
	// more often. If it fails, it returns the error, and is called again. If Listen is nil, the relay polls for rows
	// every Poll.
	Listen func(ctx context.Context, db *sql.DB, table string, wake func()) error
	Poll   time.Duration
	// Transact calls f in a transaction, which it commits if f returns nil. If Transact is nil, sql.DB.BeginTx begins it.
	Transact func(ctx context.Context, db *sql.DB, f func(Execer) error) error
}

// Execer executes statements in a transaction.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}
