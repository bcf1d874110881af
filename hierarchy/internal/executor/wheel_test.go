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

// runs are the ways in which the callbacks of values are called.
func runs[W Wheel[int]]() map[string]func(w W, values ...int) {
	return map[string]func(w W, values ...int){
		"Relay": func(w W, values ...int) { NewRelay(w, values).Go() },
		"Alone": func(w W, values ...int) {
			for _, v := range values {
				go Alone(w, v)
			}
		},
		"Here": func(w W, values ...int) {
			for _, v := range values {
				go Here(w, v)
			}
		},
		"Pool": func(w W, values ...int) { Queue(PoolOf(NewPool(2)), w, values, 7) },
	}
}

// A wheel is told of each task that it begins and ends, also if one exits its goroutine.
func TestWheelIsToldOfEachTask(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for name, run := range runs[*record]() {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := &record{}
					run(r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
					synctest.Wait()
					r.requireTold(t, name == "Pool")
				})
			})
		}
	})
}

// requireTold requires that the wheel was told of eleven tasks.
func (r *record) requireTold(t *testing.T, inPool bool) {
	require.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, r.called)
	require.Zero(t, r.running)
	require.EqualValues(t, 11, r.ended)
	if inPool {
		require.LessOrEqual(t, r.mostRunning, int64(2))
		require.Len(t, r.waited, 11)
		require.NotContains(t, r.waited, int64(0))
	} else {
		require.Empty(t, r.waited)
	}
}
