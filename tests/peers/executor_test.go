package peers

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A pool of panjf2000/ants as a wheel's executor. If the pool is full or released, the
// executor runs the task itself, because an executor must not lose a task.
func Example_ants() {
	workers, _ := ants.NewPool(8, ants.WithNonblocking(true))
	defer workers.Release()
	executor := func(task func()) {
		if workers.Submit(task) != nil {
			task()
		}
	}
	fmt.Println(fired(executor), "fired")
	// Output: 100 fired
}

// A pool of sourcegraph/conc as a wheel's executor.
func Example_conc() {
	workers := pool.New().WithMaxGoroutines(8)
	defer workers.Wait()
	fmt.Println(fired(workers.Go), "fired")
	// Output: 100 fired
}

func fired(executor hierarchy.Executor) int64 {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m, Executor: executor})
	defer w.Stop()
	var n atomic.Int64
	for range 100 {
		_, _ = w.AfterFunc(time.Second, func() { n.Add(1) })
	}
	m.Add(time.Second)
	return n.Load()
}
