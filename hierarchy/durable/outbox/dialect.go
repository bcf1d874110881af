package outbox

import (
	"context"
	"database/sql"
	"time"
)

// Dialect is what differs between databases. Packages postgres and sqlite have one each. In the statements, the
// name of the table stands for each %[1]s.
type Dialect struct {
	// Name is that of the database, for errors.
	Name string
	// Create makes the tables, if they do not exist: %[1]s with the columns id, op, key, value, due, made and failed,
	// and %[1]s_relay with the columns one, holder and renewed, and in it one row, with one = 1, an empty holder, and
	// renewed = 0. The statements are executed in one transaction.
	Create []string
	// Insert inserts a row. Its parameters are op, key, value, due, made, and a hash of the key. Rows with one
	// key must get IDs in the order in which their transactions are committed.
	Insert string
	// Listen calls wake after each commit of a transaction that has inserted rows, until ctx ends or it can't any
	// more: then it returns the error, and is called again. It may call wake more often. If it is nil, the relay
	// looks for rows each Poll.
	Listen func(ctx context.Context, db *sql.DB, table string, wake func()) error
	Poll   time.Duration
}
