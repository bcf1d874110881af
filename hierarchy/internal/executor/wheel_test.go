package executor

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// record is a Wheel that notes what it is told.
type record struct {
	mu             sync.Mutex
	called         []int
	running, ended int64
	mostRunning    int64
	waited         []int64
}

func (r *record) Call(v int) {
	r.note(func() { r.called = append(r.called, v) })
	if v%5 == 0 {
		runtime.Goexit()
	}
}

func (r *record) Start() {
	r.note(func() { r.running++; r.mostRunning = max(r.mostRunning, r.running) })
}
func (r *record) Finish()           { r.note(func() { r.running--; r.ended++ }) }
func (r *record) End(n int64)       { r.note(func() { r.ended += n }) }
func (r *record) Waits() Waits      { return r }
func (r *record) Began(since int64) { r.note(func() { r.waited = append(r.waited, since) }) }

func (r *record) note(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// A wheel is told of each task that it begins and ends, also if one exits its goroutine.
func TestWheelIsToldOfEachTask(t *testing.T) {
	values := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for name, run := range map[string]func(r *record){
		"Relay": func(r *record) { Relay(r, append([]int(nil), values...)) },
		"Alone": func(r *record) {
			for _, v := range values {
				go Alone(r, v)
			}
		},
		"Here": func(r *record) {
			for _, v := range values {
				go Here(r, v)
			}
		},
		"Pool": func(r *record) { Queue(PoolOf(NewPool(2)), r, append([]int(nil), values...), 7) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &record{}
				run(r)
				synctest.Wait()
				require.ElementsMatch(t, values, r.called)
				require.Zero(t, r.running)
				require.EqualValues(t, len(values), r.ended)
				if name == "Pool" {
					require.LessOrEqual(t, r.mostRunning, int64(2))
					require.Len(t, r.waited, len(values))
					require.NotContains(t, r.waited, int64(0))
				} else {
					require.Empty(t, r.waited)
				}
			})
		})
	}
}
