package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// BenchmarkFuncTimer resets a random one of a million, to any deadline or, as keep-alives
// do, always to the same delay. impl=timer does the same by Timer.Reset, with each Timer in
// a struct of its own, impl=array with all in one array, and impl=time by package time.
func BenchmarkFuncTimer(b *testing.B) {
	const n = 1_000_000
	for _, to := range []struct {
		name  string
		delay func() time.Duration
	}{{"any", spread}, {"keepalive", func() time.Duration { return 3 * time.Hour }}} {
		for impl, resets := range randomResets {
			run(b, impl+"/to="+to.name, n, func(b *testing.B) {
				reset := resets(b, n)
				runtime.GC()
				for b.Loop() {
					reset(rand.IntN(n), to.delay())
				}
			})
		}
	}
}

// held is a Timer in a struct of its own, as large as a FuncTimer.
type held struct {
	timer hierarchy.Timer
	_     [32]byte
}

// randomResets make n timers and return what resets one of them.
var randomResets = map[string]func(b *testing.B, n int) func(i int, d time.Duration){
	"epicycle": func(b *testing.B, n int) func(i int, d time.Duration) {
		w, timers := newWheel(b, hierarchy.Config{}), make([]*hierarchy.FuncTimer, n)
		for i := range timers {
			timers[i], _ = w.NewFunc(nop)
			timers[i].Reset(spread())
		}
		return func(i int, d time.Duration) { timers[i].Reset(d) }
	},
	"timer": func(b *testing.B, n int) func(i int, d time.Duration) {
		w, timers := newWheel(b, hierarchy.Config{}), make([]*held, n)
		for i := range timers {
			timers[i] = new(held)
			timers[i].timer, _ = w.AfterFunc(spread(), nop)
		}
		return func(i int, d time.Duration) { timers[i].timer.Reset(d) }
	},
	"array": func(b *testing.B, n int) func(i int, d time.Duration) {
		_, timers := loaded(b, n)
		return func(i int, d time.Duration) { timers[i].Reset(d) }
	},
	"time": func(b *testing.B, n int) func(i int, d time.Duration) {
		timers := loadedTime(b, n)
		return func(i int, d time.Duration) { timers[i].Reset(d) }
	},
}

// BenchmarkTouch touches an Idle of its own in each goroutine, and reports nanoseconds per
// touch of one goroutine. impl=floor only reads the clock.
func BenchmarkTouch(b *testing.B) {
	for _, goroutines := range []int{1, 2} {
		touch := func(b *testing.B, once func(g int) func()) {
			var all sync.WaitGroup
			for g := range goroutines {
				f := once(g)
				all.Go(func() {
					for range b.N {
						f()
					}
				})
			}
			all.Wait()
		}
		run(b, fmt.Sprintf("epicycle/by=%d", goroutines), goroutines, func(b *testing.B) {
			w := newWheel(b, hierarchy.Config{})
			idles := make([]*hierarchy.Idle, goroutines)
			for g := range idles {
				idles[g], _ = w.NewIdle(time.Hour, nop)
			}
			b.ResetTimer()
			touch(b, func(g int) func() {
				idle := idles[g]
				return func() { idle.Touch() }
			})
		})
		run(b, fmt.Sprintf("floor/by=%d", goroutines), goroutines, func(b *testing.B) {
			c := clock.Precise()
			touch(b, func(int) func() { return func() { c.Elapsed() } })
		})
	}
}
