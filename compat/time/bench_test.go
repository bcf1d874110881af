package time_test

import (
	"fmt"
	"runtime"
	"testing"
	standard "time"

	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/compat/time"
)

// Benchmarks are named impl=…/…. impl=time is package time. n is how many timers are pending
// on each. What a program pays is measured: benchmarks are tests, where this package looks
// for bubbles, so that is turned off. impl=epicycle-in-tests has it turned on.
//
//	go test ./compat/time -run '^$' -bench SetStop -count 10 | benchstat -col /impl -

func nop() {}

type stopper interface{ Stop() bool }

// compared runs f for each implementation.
func compared(b *testing.B, name string, f func(b *testing.B, ours bool)) {
	for _, impl := range []string{"epicycle", "epicycle-in-tests", "time"} {
		b.Run("impl="+impl+"/"+name, func(b *testing.B) {
			if impl == "epicycle" {
				defer process.AssumeNoBubbles()()
			}
			b.ReportAllocs()
			f(b, impl != "time")
		})
	}
}

// load sets n timers until the benchmark ends.
func load(b *testing.B, n int, ours bool) {
	for i := range n {
		var t stopper
		d := time.Hour + time.Duration(i)*7919*time.Microsecond%time.Hour
		if ours {
			t = time.AfterFunc(d, nop)
		} else {
			t = standard.AfterFunc(d, nop)
		}
		b.Cleanup(func() { t.Stop() })
	}
	runtime.GC()
}

// BenchmarkAfterFuncStop sets a timer with a function and stops it.
func BenchmarkAfterFuncStop(b *testing.B) {
	for _, n := range []int{0, 1_000_000} {
		compared(b, fmt.Sprintf("n=%d", n), func(b *testing.B, ours bool) {
			load(b, n, ours)
			if ours {
				for b.Loop() {
					time.AfterFunc(time.Hour, nop).Stop()
				}
				return
			}
			for b.Loop() {
				standard.AfterFunc(time.Hour, nop).Stop()
			}
		})
	}
}

// BenchmarkNewTimerStop sets a timer with a channel and stops it.
func BenchmarkNewTimerStop(b *testing.B) {
	for _, n := range []int{0, 1_000_000} {
		compared(b, fmt.Sprintf("n=%d", n), func(b *testing.B, ours bool) {
			load(b, n, ours)
			if ours {
				for b.Loop() {
					time.NewTimer(time.Hour).Stop()
				}
				return
			}
			for b.Loop() {
				standard.NewTimer(time.Hour).Stop()
			}
		})
	}
}

// BenchmarkReset resets a timer with a channel, as a loop with a timeout does.
func BenchmarkReset(b *testing.B) {
	compared(b, "n=0", func(b *testing.B, ours bool) {
		if ours {
			t := time.NewTimer(time.Hour)
			defer t.Stop()
			for b.Loop() {
				t.Reset(time.Hour)
			}
			return
		}
		t := standard.NewTimer(standard.Hour)
		defer t.Stop()
		for b.Loop() {
			t.Reset(standard.Hour)
		}
	})
}

// BenchmarkZeroTimer is the three loops of Go's TestZeroTimer.
func BenchmarkZeroTimer(b *testing.B) {
	compared(b, "by=chan", func(b *testing.B, ours bool) {
		for b.Loop() {
			if ours {
				<-time.NewTimer(0).C
			} else {
				<-standard.NewTimer(0).C
			}
		}
	})
	compared(b, "by=func", func(b *testing.B, ours bool) {
		for b.Loop() {
			c := make(chan time.Time, 1)
			send := func() { c <- time.Now() }
			if ours {
				time.AfterFunc(0, send)
			} else {
				standard.AfterFunc(0, send)
			}
			<-c
		}
	})
	compared(b, "by=reset", func(b *testing.B, ours bool) {
		c := make(chan time.Time, 1)
		send := func() { c <- time.Now() }
		t, u := time.AfterFunc(time.Hour, send), standard.AfterFunc(time.Hour, send)
		for b.Loop() {
			if ours {
				t.Reset(0)
			} else {
				u.Reset(0)
			}
			<-c
		}
		t.Stop()
		u.Stop()
	})
}
