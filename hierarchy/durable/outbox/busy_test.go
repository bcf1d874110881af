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
)

// BenchmarkBusyWriters is six goroutines that make transactions without a pause, while a relay passes their rows on. It
// reports how old the oldest row is, every few milliseconds.
func BenchmarkBusyWriters(b *testing.B) {
	ctx := context.Background()
	x, db := newBox(b, sqliteIn(b.TempDir()))
	w, _ := openTimers(b)
	relay(b, x, w)
	var stop atomic.Bool
	var all sync.WaitGroup
	var made atomic.Int64
	for g := range 6 {
		all.Go(func() {
			for n := 0; !stop.Load(); n++ {
				tx := begin(b, db)
				require.NoError(b, x.Set(ctx, tx, fmt.Sprint(g, " ", n), "value", time.Hour))
				require.NoError(b, tx.Commit())
				made.Add(1)
			}
		})
	}
	var ages []time.Duration
	for range b.N {
		time.Sleep(5 * time.Millisecond)
		ages = append(ages, oldest(b, db))
	}
	stop.Store(true)
	all.Wait()
	drained(b, x)
	n, err := w.Len(ctx)
	require.NoError(b, err)
	require.EqualValues(b, made.Load(), n)
	slices.Sort(ages)
	b.ReportMetric(float64(made.Load())/b.Elapsed().Seconds(), "orders/s")
	b.ReportMetric(float64(ages[len(ages)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(ages[len(ages)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(ages[len(ages)-1].Microseconds())/1000, "max-ms")
}

func oldest(t testing.TB, db *sql.DB) time.Duration {
	var made sql.NullInt64
	require.NoError(t, db.QueryRow("SELECT MIN(made) FROM (SELECT made FROM epicycle_outbox ORDER BY id LIMIT 1)").Scan(&made))
	if !made.Valid {
		return 0
	}
	return time.Since(time.Unix(0, made.Int64))
}
