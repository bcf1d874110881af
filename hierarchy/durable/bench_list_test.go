package durable_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// listed is the number of timers that the benchmarks of lists preload.
const listed = 1_000_000

// preload sets timers with random keys and values of 100 bytes, and returns one of the keys.
func preload(b *testing.B, w *strs) (key string) {
	random := rand.New(rand.NewPCG(1, 1))
	var batch durable.Batch[string, string]
	for i := range listed {
		key = fmt.Sprintf("order-%016x", random.Uint64())
		batch.Set(key, value100, 24*time.Hour)
		if i%2000 == 1999 {
			if err := w.Batch(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
			batch.Reset()
		}
	}
	runtime.GC()
	return key
}

// BenchmarkList lists timers among a million: the first hundred, those with a prefix that one has, and the dead ones,
// of which there is none. It also sets timers, alone, beside an index, and beside four goroutines that list all the
// time.
func BenchmarkList(b *testing.B) {
	b.Run(fmt.Sprintf("impl=durable/n=%d", listed), func(b *testing.B) {
		w := benchOpen(b, nil)
		key := preload(b, w)
		set := func(name string) {
			b.Run(name, func(b *testing.B) {
				report(b, "", benchSet(b, 64, func(int) *strs { return w }))
			})
		}
		list := func(q durable.Query) {
			if _, err := w.List(b.Context(), q); err != nil {
				b.Error(err)
			}
		}
		set("set=alone")
		begun := time.Now()
		list(durable.Query{Limit: 1})
		b.Log("the first list of all took", time.Since(begun))
		set("set=indexed")
		for name, q := range map[string]durable.Query{
			"first-page": {Limit: 100}, "prefix-of-one": {Limit: 100, Prefix: key},
			"dead": {Limit: 100, States: []durable.State{durable.StateDead}}, "last-page": {Limit: 100, After: "order-ffff"},
		} {
			b.Run("list="+name, func(b *testing.B) {
				for b.Loop() {
					list(q)
				}
			})
		}
		stop, listers := make(chan bool), sync.WaitGroup{}
		for range 4 {
			listers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						list(durable.Query{Limit: 100})
					}
				}
			})
		}
		set("set=beside-4-listers")
		close(stop)
		listers.Wait()
	})
}
