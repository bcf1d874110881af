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
