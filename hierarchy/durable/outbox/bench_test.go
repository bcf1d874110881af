package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkRelay is transactions of 16 callers, each of which sets a timer, until all have reached the timers.
func BenchmarkRelay(b *testing.B) {
	for name, open := range map[string]func() database{
		"SQLite":     func() database { return sqliteIn(b.TempDir()) },
		"PostgreSQL": func() database { return postgresDatabase(b) },
	} {
		b.Run("impl="+name+"/n=16", func(b *testing.B) {
			ctx := context.Background()
			x, db := newBox(b, open())
			db.SetMaxIdleConns(20)
			w, _ := openTimers(b)
			relay(b, x, w)
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range 16 {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						tx := begin(b, db)
						require.NoError(b, x.Set(ctx, tx, fmt.Sprint("order-", i), "value", time.Hour))
						require.NoError(b, tx.Commit())
					}
				})
			}
			all.Wait()
			drained(b, x)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "timers/s")
		})
	}
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
