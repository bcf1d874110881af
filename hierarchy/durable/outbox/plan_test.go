package outbox_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// The queries of a page read the rows that they return, and no others, however many wait or were refused.
func TestPagesReadWhatTheyReturn(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		_, db := newBox(t, d)
		key, explain, columns := "x'31'", "EXPLAIN QUERY PLAN ", 4
		if d.Driver == "pgx" {
			key, explain, columns = `'\x31'::bytea`, "EXPLAIN ", 1
		}
		for _, next := range []string{"1", "NULL", "9000000000000000000"} { // to be tried again, refused, waiting
			_, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000)
				INSERT INTO epicycle_outbox (op, key, due, made, next) SELECT 4, ` + key + `, 0, 0, ` + next + ` FROM n`)
			require.NoError(t, err)
		}
		_, err := db.Exec("ANALYZE")
		require.NoError(t, err)
		fresh, again := outbox.PageQueries("epicycle_outbox")
		plan := planOf(t, db, explain+fresh, columns)
		require.Contains(t, plan, "epicycle_outbox_new")
		require.Contains(t, plan, "epicycle_outbox_key")
		plan = planOf(t, db, explain+again, columns)
		require.Contains(t, plan, "epicycle_outbox_next")
		require.Contains(t, plan, "epicycle_outbox_key")
	})
}

// planOf returns how the database executes a query. The text is in the last column.
func planOf(t *testing.T, db *sql.DB, q string, columns int) (plan string) {
	rows, err := db.Query(q)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		parts := make([]any, columns)
		for i := range parts {
			parts[i] = new(any)
		}
		require.NoError(t, rows.Scan(parts...))
		plan += fmt.Sprintln(*parts[columns-1].(*any))
	}
	require.NoError(t, rows.Err())
	return plan
}
