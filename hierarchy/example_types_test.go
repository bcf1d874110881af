package hierarchy_test

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A wheel with the zero Config runs in real time, and each callback in a goroutine of its own.
func ExampleWheel() {
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		panic(err)
	}
	defer w.Stop()
	done := make(chan bool)
	late, err := w.AfterFunc(time.Hour, func() { fmt.Println("an hour later") })
	if err != nil {
		panic(err)
	}
	if _, err := w.AfterFunc(time.Millisecond, func() { fmt.Println("a millisecond later"); close(done) }); err != nil {
		panic(err)
	}
	<-done
	fmt.Println(late.Stop(), w.Len())
	// Output:
	// a millisecond later
	// true 0
}

// A connection is closed when nothing was read for a minute.
func ExampleIdle() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	idle, _ := w.NewIdle(time.Minute, func() { fmt.Println("closed at", m.Elapsed()) })
	for range 3 {
		m.Add(50 * time.Second)
		idle.Touch()
	}
	m.Add(time.Hour)
	fmt.Println(idle.Touch())
	// Output:
	// closed at 3m30s
	// false
}

// What is behind a Handle is moved and removed by it.
func ExampleHandle() {
	var d hierarchy.Driven[string]
	tea := d.Set("tea", 3*time.Minute)
	eggs := d.Set("eggs", 5*time.Minute)
	d.Move(tea, 4*time.Minute)
	d.Remove(eggs)
	for v, due := range d.Expire(10 * time.Minute) {
		fmt.Println(v, due)
	}
	_, _, ok := d.Get(tea)
	fmt.Println(ok)
	// Output:
	// tea 4m0s
	// false
}

// The circles show where timers are.
func ExampleCircleStats() {
	w, _ := hierarchy.New(hierarchy.Config{Clock: clock.NewMock()})
	defer w.Stop()
	for _, d := range []time.Duration{time.Millisecond, time.Minute, 24 * time.Hour} {
		if _, err := w.AfterFunc(d, func() {}); err != nil {
			panic(err)
		}
	}
	for _, c := range w.Circles() {
		for slot, n := range c.Slots {
			if n > 0 {
				fmt.Println(c.Width, c.Base, "slot", slot)
			}
		}
	}
	// Output:
	// 262.144µs false slot 3
	// 1.073741824s true slot 55
	// 1h13m18.046511104s false slot 19
}
