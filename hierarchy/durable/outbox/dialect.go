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
	// Create creates the tables, if they do not exist: %[1]s with the columns id, op, key, value, due, made and failed,
	// and %[1]s_relay with the columns one, holder and renewed. They insert one row into %[1]s_relay, with one = 1, an
	// empty holder, and renewed = 0. The statements are executed in one transaction.
	Create []string
	// Insert inserts a row. Its parameters are op, key, value, due, made, and a hash of the key. Rows with the same key
	// must get IDs in the order in which their transactions are committed.
	Insert string
	// Listen calls wake after each commit of a transaction that has inserted rows, until ctx ends. It may call wake
	// more often. If it fails, it returns the error, and is called again. If Listen is nil, the relay polls for rows
	// every Poll.
	Listen func(ctx context.Context, db *sql.DB, table string, wake func()) error
	Poll   time.Duration
}
