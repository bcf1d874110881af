package serial

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// What was passed to Then is called once, when F has returned. Meanwhile F is called again.
func TestThenDoesNotHoldUpTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Call
		var log []string // not guarded, as its writers wait for each other
		release := make(chan bool)
		c.F = func() {
			log = append(log, "F")
			if len(log) == 1 {
				c.Then(func() {
					log = append(log, "then")
					<-release
					log = append(log, "released")
				})
				log = append(log, "F ends")
			}
		}
		go c.Run()
		synctest.Wait()
		require.Equal(t, []string{"F", "F ends", "then"}, log)
		c.Run()
		close(release)
		synctest.Wait()
		c.Run()
		require.Equal(t, []string{"F", "F ends", "then", "F", "released", "F"}, log)
	})
}

// If F was asked for while it ran, it is called first, and may replace what follows.
func TestThenComesAfterTheNextCall(t *testing.T) {
	for _, replaces := range []bool{false, true} {
		var c Call
		var log []string
		c.F = func() {
			if log = append(log, "F"); len(log) == 1 {
				c.Then(func() { log = append(log, "first") })
				c.Run()
			} else if replaces {
				c.Then(func() { log = append(log, "second") })
			}
		}
		c.Run()
		last := "first"
		if replaces {
			last = "second"
		}
		require.Equal(t, []string{"F", "F", last}, log)
	}
}

// ends are ways in which a function does not return.
var ends = map[string]func(){"panics": func() { panic("ends") }, "exits": runtime.Goexit}

// inGoroutine calls f in a goroutine, and returns when that has ended.
func inGoroutine(f func()) {
	var ended sync.WaitGroup
	ended.Go(func() {
		defer func() { _ = recover() }()
		f()
	})
	ended.Wait()
}

// If F does not return, what was passed to Then is called in a goroutine that is as new. If F was asked for
// meanwhile, it is called first.
func TestThenOfACallThatEnds(t *testing.T) {
	for name, end := range ends {
		for _, again := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var c Call
					var calls, thens atomic.Int32
					c.F = func() {
						if calls.Add(1) > 1 {
							return
						}
						pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("left", "behind")))
						c.Then(func() {
							requireNoLabel(t)
							thens.Add(1)
						})
						if again {
							c.Run()
						}
						end()
					}
					inGoroutine(c.Run)
					synctest.Wait()
					require.EqualValues(t, 1, thens.Load())
					c.Run()
					require.EqualValues(t, 1, thens.Load())
					want := 2
					if again {
						want++
					}
					require.EqualValues(t, want, calls.Load())
				})
			})
		}
	}
}

// requireNoLabel requires that the goroutine that calls it has no profiler labels.
func requireNoLabel(t *testing.T) {
	var all strings.Builder
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&all, 1))
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, "requireNoLabel") {
			require.NotContains(t, stack, "# labels: ")
		}
	}
}

// What was passed to Then may end its goroutine. Then it is not called again, and F runs as before.
func TestThenThatEnds(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c Call
				calls, thens := 0, 0
				c.F = func() {
					if calls++; calls == 1 {
						c.Then(func() { thens++; end() })
					}
				}
				inGoroutine(c.Run)
				synctest.Wait()
				c.Run()
				require.Equal(t, 2, calls)
				require.Equal(t, 1, thens)
			})
		})
	}
}

// Many goroutines ask for F at once. What the last call of F has passed to Then is called, and nothing is called twice.
func TestThenConcurrently(t *testing.T) {
	var c Call
	last := 0 // only F uses it
	var called sync.Map
	c.F = func() {
		last++
		n := last
		c.Then(func() {
			if _, twice := called.LoadOrStore(n, true); twice {
				t.Error("called twice")
			}
		})
		runtime.Gosched()
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				c.Run()
			}
		})
	}
	all.Wait()
	_, ok := called.Load(last)
	require.True(t, ok)
}
