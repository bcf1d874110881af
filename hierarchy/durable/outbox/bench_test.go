package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// BenchmarkRelay is transactions of many callers, each of which makes an order. With a timer, each sets one, too, and all
// have reached the durable timers in the end. Without, it is what the database does by itself.
func BenchmarkRelay(b *testing.B) {
	for name, open := range map[string]func() database{
		"SQLite":     func() database { return sqliteIn(b.TempDir()) },
		"PostgreSQL": func() database { return postgresDatabase(b) },
	} {
		for _, callers := range []int{16, 64} {
			for _, timer := range []bool{false, true} {
				b.Run(fmt.Sprintf("impl=%s/timer=%v/n=%d", name, timer, callers), func(b *testing.B) {
					x, db := newBox(b, open())
					db.SetMaxIdleConns(callers + 4)
					w, _ := openTimers(b)
					relay(b, x, w)
					_, err := db.Exec("CREATE TABLE IF NOT EXISTS orders (name TEXT)")
					require.NoError(b, err)
					b.ResetTimer()
					orders(b, x, db, callers, timer)
					drained(b, x)
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
				})
			}
		}
	}
}

// orders makes b.N orders.
func orders(b *testing.B, x *outbox.Box[string, string], db *sql.DB, callers int, timer bool) {
	ctx := context.Background()
	var next atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				name := fmt.Sprint("order-", i)
				tx := begin(b, db)
				_, err := tx.ExecContext(ctx, "INSERT INTO orders (name) VALUES ('"+name+"')")
				require.NoError(b, err)
				if timer {
					require.NoError(b, x.Set(ctx, tx, name, "value", time.Hour))
				}
				require.NoError(b, tx.Commit())
			}
		})
	}
	all.Wait()
}

// BenchmarkFromCommit is the time from a commit until the timer fires, for one transaction after the other.
func BenchmarkFromCommit(b *testing.B) {
	for name, open := range map[string]func() database{
		"SQLite":     func() database { return sqliteIn(b.TempDir()) },
		"PostgreSQL": func() database { return postgresDatabase(b) },
	} {
		b.Run("impl="+name, func(b *testing.B) {
			ctx := context.Background()
			x, db := newBox(b, open())
			w, f := openTimers(b)
			relay(b, x, w)
			times := make([]time.Duration, 0, b.N)
			for i := range b.N {
				tx := begin(b, db)
				require.NoError(b, x.Set(ctx, tx, fmt.Sprint(i), "", 0))
				require.NoError(b, tx.Commit())
				committed := time.Now()
				<-f.got
				times = append(times, time.Since(committed))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
