package hierarchy_test

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A FuncTimer can be set again and again: here what was typed is saved when nothing has been
// typed for two seconds.
func ExampleWheel_NewFunc() {
	m := clock.NewMock() // in production, leave Clock out
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	text := ""
	save, err := w.NewFunc(func() { fmt.Printf("saved %q at %v\n", text, m.Elapsed()) })
	if err != nil {
		panic(err)
	}
	for _, letter := range "wheel" {
		text += string(letter)
		save.Reset(2 * time.Second)
		m.Add(time.Second)
	}
	m.Add(time.Minute)
	text += "s"
	fmt.Println(save.Reset(2 * time.Second)) // it was not pending
	m.Add(time.Minute)
	// Output:
	// saved "wheel" at 6s
	// false
	// saved "wheels" at 1m7s
}

// StopWait makes sure that the function no longer runs.
func ExampleFuncTimer_StopWait() {
	w, _ := hierarchy.New(hierarchy.Config{})
	defer w.Stop()
	begun := make(chan bool)
	timer, _ := w.NewFunc(func() {
		begun <- true
		fmt.Println("flushed")
	})
	timer.Reset(0)
	<-begun
	fmt.Println(timer.Stop()) // too late
	fmt.Println(timer.StopWait(context.Background()))
	// Unordered output:
	// false
	// flushed
	// <nil>
}

// An Idle fires when it has not been touched for some time.
func ExampleWheel_NewIdle() {
	m := clock.NewMock() // in production, leave Clock out
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	idle, err := w.NewIdle(30*time.Second, func() { fmt.Println("closed at", m.Elapsed()) })
	if err != nil {
		panic(err)
	}
	for range 3 { // a message every 20 seconds
		m.Add(20 * time.Second)
		fmt.Println(idle.Touch())
	}
	m.Add(time.Minute)
	fmt.Println(idle.Touch())
	// Output:
	// true
	// true
	// true
	// closed at 1m30s
	// false
}

// Of several who set a key, the soonest wins.
func ExampleKeyed_SetSooner() {
	m := clock.NewMock()
	w, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(pod, why string) {
		fmt.Println(pod, why, "at", m.Elapsed())
	})
	defer w.Stop()
	fmt.Println(w.SetSooner("pod", "resync", time.Minute))
	fmt.Println(w.SetSooner("pod", "retry", time.Second))
	fmt.Println(w.SetSooner("pod", "resync", time.Minute))
	m.Add(time.Hour)
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
	// pod retry at 1s
}

func ExampleKeyed_All() {
	m := clock.NewMock()
	w, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(string, int) {})
	defer w.Stop()
	_ = w.Set("a", 1, time.Minute)
	_ = w.Set("b", 2, time.Hour)
	for key, e := range w.All() {
		if e.Due.Sub(m.Now()) < 10*time.Minute {
			fmt.Println(key, e.Value, "is due at", e.Due.Format(time.TimeOnly))
		}
	}
	// Output: a 1 is due at 00:01:00
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
