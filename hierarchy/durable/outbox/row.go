package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// row is an operation in the table.
type row struct {
	id         int64
	op         kind
	key, value []byte
	due        int64 // Unix time in nanoseconds
}

const (
	pageRows  = 1000
	pageBytes = 256 << 10
)

// page returns the first rows, if this process has the lease.
func (r *relay[K, V]) page(ctx context.Context) (rows []row, err error) {
	q := fmt.Sprintf(`SELECT id, op, key, value, due FROM %[1]s WHERE failed IS NULL AND
		(SELECT holder FROM %[1]s_relay WHERE one = 1) = %[2]s ORDER BY id LIMIT %[3]d`,
		r.box.cfg.Table, quote(r.lease.holder), pageRows)
	found, err := r.box.cfg.DB.QueryContext(ctx, q)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for size := 0; size < pageBytes && found.Next(); {
		var w row
		if err := found.Scan(&w.id, &w.op, &w.key, &w.value, &w.due); err != nil {
			return nil, err
		}
		size += len(w.key) + len(w.value)
		rows = append(rows, w)
	}
	return rows, found.Err()
}

// forget deletes the rows that were acknowledged, and records the errors of the rows that were refused.
func (r *relay[K, V]) forget(ctx context.Context, tx *sql.Tx, done []int64, refused []refusal) error {
	if len(done) > 0 {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE id IN (%s)`, r.box.cfg.Table, list(done)))
		if err != nil {
			return err
		}
	}
	for _, f := range refused {
		r.box.cfg.Logger.Error("outbox: a row is refused", "table", r.box.cfg.Table, "id", f.id, "err", f.err)
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`UPDATE %s SET failed = %s WHERE id = %d`,
			r.box.cfg.Table, quote(f.err.Error()), f.id))
		if err != nil {
			return err
		}
	}
	return nil
}

func ids(rows []row) []int64 {
	all := make([]int64, len(rows))
	for i := range rows {
		all[i] = rows[i].id
	}
	return all
}

// list returns numbers as literals, separated by commas. Parameters would be too many for one statement.
func list(numbers []int64) string {
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return b.String()
}

// quote returns a string literal. With a parameter instead, its syntax would have to suit all databases.
func quote(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", "''") + "'"
}
