package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is an operation in the table.
type row struct {
	id         int64
	op         kind
	key, value []byte
	due        int64         // Unix time in nanoseconds
	attempts   int           // how often the timers have not accepted it
	next       int64         // Unix time in nanoseconds when it is tried again, or 0 if it was not tried yet
	ahead      sql.NullInt64 // the ID of the last row of the same key before it that waits, if there is one
}

const (
	pageRows  = 1000
	pageBytes = 256 << 10
	// againRows and againBytes limit what is tried again while there are new rows, so that these need not wait.
	againRows  = 200
	againBytes = 64 << 10
)

// page returns the first new rows, and rows that are to be tried again by now, in order of ID, if this process has the
// lease. It does not read the rows that wait.
func (r *relay[K, V]) page(ctx context.Context) ([]row, error) {
	rows, err := r.rows(ctx, isNew, byID, pageRows, pageBytes)
	if err != nil {
		return nil, err
	}
	due := fmt.Sprintf(isAgain, time.Now().UnixNano())
	again, err := r.rows(ctx, due, byNext, max(againRows, pageRows-len(rows)), againBytes)
	rows = append(again, rows...)
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return rows, err
}

func rowsQuery(table, holder, where, order string, most int) string {
	return fmt.Sprintf(`SELECT p.id, p.op, p.key, p.value, p.due, p.attempts, p.next,
		(SELECT w.id FROM %[1]s w WHERE `+isAhead+` p.id AND w.key = p.key `+lastFirst+`)
		FROM %[1]s p WHERE %[2]s AND (SELECT holder FROM %[1]s_relay WHERE one = 1) = %[3]s ORDER BY %[4]s LIMIT %[5]d`,
		table, where, quote(holder), order, most)
}

// These find the last or the first row of a key, before another row, that waits. With "id" instead of "id + 0", databases would
// search for it in the order of IDs, among the rows of all keys. An index has that expression.
const (
	isAhead    = `w.next > 0 AND w.id + 0 <`
	lastFirst  = `ORDER BY w.id + 0 DESC LIMIT 1`
	firstFirst = `ORDER BY w.id + 0 LIMIT 1`
)

const (
	isNew, byID     = `p.next = 0`, `p.id`
	isAgain, byNext = `p.next > 0 AND p.next <= %d`, `p.next, p.id`
)

// rows returns the first rows for which a condition holds, if this process has the lease.
func (r *relay[K, V]) rows(ctx context.Context, where, order string, most, bytes int) (rows []row, err error) {
	found, err := r.box.cfg.DB.QueryContext(ctx, rowsQuery(r.box.cfg.Table, r.lease.holder, where, order, most))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for size := 0; size < bytes && found.Next(); {
		var w row
		if err := found.Scan(&w.id, &w.op, &w.key, &w.value, &w.due, &w.attempts, &w.next, &w.ahead); err != nil {
			return nil, err
		}
		size += len(w.key) + len(w.value)
		rows = append(rows, w)
	}
	return rows, found.Err()
}

// nextTime returns the time until the next row is to be tried again. If there is none, it returns most.
func (r *relay[K, V]) nextTime(ctx context.Context, most time.Duration) (time.Duration, error) {
	var next sql.NullInt64
	q := fmt.Sprintf(`SELECT MIN(next) FROM %s WHERE next > 0`, r.box.cfg.Table)
	if err := r.box.cfg.DB.QueryRowContext(ctx, q).Scan(&next); err != nil || !next.Valid {
		return most, err
	}
	return min(most, max(0, left(next.Int64))), nil
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
