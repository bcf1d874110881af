package hierarchy_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Five seconds past each full minute of the wall clock, whenever the process was started.
func ExampleAligned() {
	m := clock.NewMock() // in production, leave Clock out
	m.Set(time.Date(2030, 5, 6, 7, 8, 30, 0, time.UTC))
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	_, err := w.Schedule(hierarchy.Aligned(time.Minute, 5*time.Second), func() {
		fmt.Println("run at", m.Now().Format(time.TimeOnly))
	})
	if err != nil {
		panic(err)
	}
	m.Add(2 * time.Minute)
	// Output:
	// run at 07:09:05
	// run at 07:10:05
}

// A thousand processes report every hour, each within the first ten minutes at a time of its
// own.
func ExampleJittered() {
	hourly := hierarchy.Jittered(hierarchy.Aligned(time.Hour, 0), 10*time.Minute)
	now := time.Date(2030, 5, 6, 7, 8, 30, 0, time.UTC)
	next := hourly.Next(now)
	fmt.Println("hour", next.Hour(), "and below ten minutes:", next.Minute() < 10)
	// Output: hour 8 and below ten minutes: true
}

func ExampleRepeater_Next() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	r, err := w.Every(time.Hour, func() {})
	if err != nil {
		panic(err)
	}
	m.Add(90 * time.Minute)
	next, ok := r.Next()
	fmt.Println(next.Format(time.TimeOnly), ok)
	r.Stop()
	_, ok = r.Next()
	fmt.Println(ok)
	// Output:
	// 02:00:00 true
	// false
}

func ExampleRepeater_RunNow() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	r, _ := w.Schedule(hierarchy.Aligned(time.Hour, 0), func() { fmt.Println("run at", m.Now().Format(time.TimeOnly)) })
	m.Add(10 * time.Minute)
	r.RunNow()
	m.Add(0)
	next, _ := r.Next()
	fmt.Println("next at", next.Format(time.TimeOnly))
	m.Add(2 * time.Hour)
	// Output:
	// run at 00:10:00
	// next at 02:00:00
	// run at 02:00:00
}
