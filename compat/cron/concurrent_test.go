package cron_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/cron"
)

// Several goroutines, and the jobs, call everything at once. In the end nothing runs any more.
func TestConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cron.New(cron.WithSeconds())
		var runs atomic.Int64
		call := func(r *rand.Rand) {
			switch r.IntN(8) {
			case 0, 1:
				add(t, c, "* * * * * *", func() { runs.Add(1) })
			case 2, 3:
				if all := c.Entries(); len(all) > 20 {
					c.Remove(all[r.IntN(len(all))].ID)
				}
			case 4:
				c.Start()
			case 5:
				<-c.Stop().Done()
			case 6:
				c.Entry(cron.EntryID(r.IntN(100)))
			case 7:
				add(t, c, "*/3 * * * * *", func() { c.Remove(cron.EntryID(runs.Add(1))) })
			}
		}
		var all sync.WaitGroup
		for seed := range uint64(4) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(seed, 1))
				for range 500 {
					call(r)
					time.Sleep(time.Duration(r.Int64N(int64(time.Second))))
				}
			})
		}
		all.Wait()
		<-c.Stop().Done()
		ran := runs.Load()
		require.Greater(t, ran, int64(100))
		pass(time.Hour)
		require.Equal(t, ran, runs.Load())
	})
}
