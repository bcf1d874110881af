package durable_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/program"
	"github.com/epicycle-go/epicycle/tests/long"
)

var programs = flag.Int("programs", long.Or(8, 120), "how many random programs run on all kinds of storage")

// door returns the library in a directory, or in processes that share some partitions in memory.
func door(t *testing.T, partitions int) *program.Library {
	if partitions == 0 {
		return program.InDirectory(t)
	}
	disks := make([]memlog.Disk, partitions)
	var table memtable.Table
	var net membus.Net
	return &program.Library{Processes: func(t *testing.T, cfg durable.Config[string, string]) (all []*program.Keyed) {
		for range 1 + partitions/8 {
			set := storage.Set{Partitions: partitions, Table: table.Open(), Bus: net.Connect()}
			for i := range disks {
				set.Logs = append(set.Logs, disks[i].Open())
			}
			k, err := durable.OpenOf(t.Context(), cfg, set)
			require.NoError(t, err)
			all = append(all, k)
		}
		return all
	}}
}

// A program has its own Config: what no clock, or no restart, can do alike is not in all of them.
var configs = []program.Config{{}, {Lazy: true}, {Slow: true}, {Down: 20 * time.Second}}

// The same operations have the same answers, and the same timers fire, whatever keeps them and whichever time they go by:
// a directory, or processes that share one partition or eight, which are asked in turn; and whether all begin anew in
// between or not.
func TestSameEverywhere(t *testing.T) {
	for seed := range uint64(*programs) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := configs[seed%4]
			cfg.MaxAttempts = 3
			var want []string
			same := func(got []string, what ...any) {
				if want == nil {
					want = got
				}
				program.Same(t, want, got, what...)
			}
			for _, partitions := range []int{0, 1, 8} {
				for _, restarts := range []bool{false, true} {
					if restarts && cfg.Slow || !restarts && cfg.Down > 0 {
						continue
					}
					if !cfg.Slow {
						same(cfg.Run(t, seed, door(t, partitions), clock.NewMock(), restarts), "%d partitions, restarts: %v", partitions, restarts)
					}
					if !cfg.Lazy && !(restarts && partitions == 8) { // in virtual time a call can wait while partitions are handed over
						synctest.Test(t, func(t *testing.T) {
							same(cfg.Run(t, seed, door(t, partitions), nil, restarts), "virtual time, %d partitions, restarts: %v", partitions, restarts)
						})
					}
				}
			}
		})
	}
}
