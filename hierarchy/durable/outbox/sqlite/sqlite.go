// Package sqlite is the dialect of SQLite for package outbox. It works with any driver, such as modernc.org/sqlite.
package sqlite

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// Dialect returns the dialect of SQLite. The relay polls for rows every 10 milliseconds, as SQLite has no way to wake
// another process. The database should be in WAL mode and have a busy_timeout.
func Dialect() outbox.Dialect {
	return outbox.Dialect{
		Name: "SQLite",
		Create: []string{
			`CREATE TABLE IF NOT EXISTS %[1]s (
				id INTEGER PRIMARY KEY AUTOINCREMENT,
				op INTEGER NOT NULL, key BLOB NOT NULL, value BLOB, due INTEGER NOT NULL,
				made INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next INTEGER DEFAULT 0, failed TEXT)`,
			`CREATE INDEX IF NOT EXISTS %[1]s_new ON %[1]s (id) WHERE next = 0`,
			`CREATE INDEX IF NOT EXISTS %[1]s_next ON %[1]s (next, id) WHERE next > 0`,
			`CREATE INDEX IF NOT EXISTS %[1]s_key ON %[1]s (key, (id + 0)) WHERE next > 0`,
			`CREATE TABLE IF NOT EXISTS %[1]s_relay (
				one INTEGER PRIMARY KEY CHECK (one = 1), holder TEXT NOT NULL, renewed INTEGER NOT NULL)`,
			`INSERT INTO %[1]s_relay (one, holder, renewed) VALUES (1, '', 0) ON CONFLICT DO NOTHING`,
		},
		// Only one transaction writes at a time, so IDs are in the order of commits. The hash is for other databases.
		Insert: `INSERT INTO %[1]s (op, key, value, due, made) SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?6 IS NOT NULL`,
		Poll:   10 * time.Millisecond,

		Transact: transact,
	}
}
