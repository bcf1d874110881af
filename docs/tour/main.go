// Command tour shows the library at its main job: a million timers set, kept,
// cancelled and fired, and a year that passes in a second.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

const many = 1_000_000

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "tour: it takes no arguments, and was given %q\n", os.Args[1:])
		os.Exit(2)
	}
	for _, show := range []func() error{million, lateness, year} {
		if err := show(); err != nil {
			fmt.Fprintln(os.Stderr, "tour:", err)
			os.Exit(1)
		}
	}
}

// million sets timers from 100 µs to years away and cancels them again.
func million() error {
	w, err := hierarchy.New(hierarchy.Config{Executor: hierarchy.Inline})
	if err != nil {
		return err
	}
	defer w.Stop()
	timers := make([]hierarchy.Timer, many)
	before := heap()
	start := time.Now()
	for i := range timers {
		d := 100 * time.Microsecond << rand.IntN(42) // to 14 years
		if timers[i], err = w.AfterFunc(d, func() {}); err != nil {
			return err
		}
	}
	set := time.Since(start)
	perTimer := float64(heap()-before) / float64(w.Len())
	start = time.Now()
	stopped := 0
	for _, t := range timers {
		if t.Stop() {
			stopped++
		}
	}
	fmt.Printf("A million timers, from 100 µs to 14 years\n")
	fmt.Printf("  set        %4.0f ns each\n", float64(set.Nanoseconds())/many)
	fmt.Printf("  kept       %4.0f bytes each\n", perTimer)
	fmt.Printf("  cancelled  %4.0f ns each: %d; the other %d had fired\n\n",
		float64(time.Since(start).Nanoseconds())/many, stopped, many-stopped)
	return nil
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// lateness fires timers of a few milliseconds, one at a time.
func lateness() error {
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()
	var done sync.WaitGroup
	for range 200 {
		done.Add(1)
		if _, err := w.AfterFunc(time.Duration(1_000_000+rand.IntN(5_000_000)), done.Done); err != nil {
			return err
		}
		done.Wait()
	}
	late := w.Stats().Lateness
	fmt.Printf("200 timers of 1 to 6 ms, one after the other\n")
	fmt.Printf("  late by    %v in the median, %v at most; never early\n\n", late.Quantile(0.5), late.Max())
	return nil
}

// year runs a mock year: a job every 7 s and a million timers at random.
func year() error {
	const length = 365 * 24 * time.Hour
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		return err
	}
	defer w.Stop()
	runs, wrong := 0, 0
	if _, err := w.Every(7*time.Second, func() { runs++ }); err != nil {
		return err
	}
	for range many {
		d := time.Duration(rand.Int64N(int64(length)))
		_, err := w.AfterFunc(d, func() {
			if m.Elapsed() != d {
				wrong++
			}
		})
		if err != nil {
			return err
		}
	}
	start := time.Now()
	m.Add(length)
	fmt.Printf("A year on the mock clock\n")
	fmt.Printf("  took       %v for a million timers, %d of them not exact to the nanosecond,\n",
		time.Since(start).Round(time.Millisecond), wrong)
	fmt.Printf("             and %d runs of a job every 7 s\n", runs)
	return nil
}
