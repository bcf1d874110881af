package compat_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
)

// In production, compat.NewTimingWheel(time.Second, 300, execute) does the same in real
// time.
func ExampleNewTimingWheel() {
	m := clock.NewMock()
	execute := func(key, value any) { fmt.Println(key, "is", value, "at", m.Elapsed()) }
	w, err := compat.NewTimingWheelWithClock(time.Second, 300, execute, m)
	if err != nil {
		panic(err)
	}
	defer w.Stop()

	for _, name := range []string{"ann", "bob", "cid"} {
		if err := w.SetTimer(name, "gone", 30*time.Second); err != nil {
			panic(err)
		}
	}
	m.Add(20 * time.Second)
	fmt.Println("ann sends a message, bob signs off")
	_ = w.MoveTimer("ann", 30*time.Second)
	_ = w.RemoveTimer("bob")
	m.Add(time.Minute)
	fmt.Println(w.SetTimer([]string{"not", "a", "key"}, nil, time.Second))
	// Output:
	// ann sends a message, bob signs off
	// cid is gone at 30s
	// ann is gone at 50s
	// incorrect task argument
}

// manualTicker is a ticker whose ticks the example sends.
type manualTicker chan time.Time

func (c manualTicker) Chan() <-chan time.Time { return c }
func (c manualTicker) Stop()                  {}

func ExampleNewTimingWheelWithTicker() {
	ticker, done := make(manualTicker), make(chan bool)
	execute := func(key, value any) {
		fmt.Println(key, value)
		done <- true
	}
	w, err := compat.NewTimingWheelWithTicker(time.Second, 10, execute, ticker)
	if err != nil {
		panic(err)
	}
	defer w.Stop()

	_ = w.SetTimer("after", "three ticks", 3*time.Second)
	for tick := 1; tick <= 3; tick++ {
		fmt.Println("tick", tick)
		ticker <- time.Now()
	}
	<-done

	_ = w.SetTimer("not", "yet", time.Minute)
	_ = w.MoveTimer("not", time.Millisecond) // below the interval: at once
	<-done
	// Output:
	// tick 1
	// tick 2
	// tick 3
	// after three ticks
	// not yet
}

// On a mock, Drain has called its function for all timers when it returns. In real time,
// Shutdown waits for that.
func ExampleTimingWheel_Drain() {
	m := clock.NewMock()
	w, _ := compat.NewTimingWheelWithClock(time.Second, 300, func(key, _ any) { fmt.Println(key) }, m)
	defer w.Stop()

	_ = w.SetTimer("flush", "to disk", time.Hour)
	_ = w.SetTimer("send", "the mail", time.Minute)
	_ = w.Drain(func(key, value any) { fmt.Println(key, value, "early") })
	m.Add(2 * time.Hour)
	// Output:
	// send the mail early
	// flush to disk early
}

func ExampleTimingWheel_Shutdown() {
	w, err := compat.NewTimingWheel(time.Second, 300, func(key, _ any) { fmt.Println(key) })
	if err != nil {
		panic(err)
	}
	_ = w.SetTimer("flush", "to disk", time.Hour)

	// At the end of the process:
	_ = w.Drain(func(key, value any) { fmt.Println(key, value, "early") })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(w.Shutdown(ctx)) // also waits for the function of Drain
	fmt.Println(w.SetTimer("flush", "again", time.Hour))
	// Output:
	// flush to disk early
	// <nil>
	// TimingWheel is closed already
}

func ExampleNewCache() {
	m := clock.NewMock() // in production leave WithClock out
	c, err := compat.NewCache(time.Minute, compat.WithLimit(1000), compat.WithClock(m))
	if err != nil {
		panic(err)
	}
	defer c.Close()

	find := func(name string) {
		value, err := c.Take(name, func() (any, error) {
			if name == "" {
				return nil, errors.New("the name is empty")
			}
			fmt.Println("ask the database for", name)
			return "user " + name, nil
		})
		fmt.Println(value, err)
	}
	find("ann")
	find("ann")
	m.Add(2 * time.Minute) // values expire
	find("ann")
	find("")
	fmt.Printf("%+v\n", c.Stats())
	// Output:
	// ask the database for ann
	// user ann <nil>
	// user ann <nil>
	// ask the database for ann
	// user ann <nil>
	// <nil> the name is empty
	// {Hits:1 Misses:2 Elements:1}
}

func ExampleCache_SetWithExpire() {
	m := clock.NewMock()
	c, _ := compat.NewCache(time.Hour, compat.WithClock(m))
	defer c.Close()

	c.Set("ann", 1)
	c.SetWithExpire("bob", 2, time.Minute) // or up to 5 % sooner or later
	m.Add(2 * time.Minute)
	fmt.Println(c.Get("ann"))
	fmt.Println(c.Get("bob"))
	// Output:
	// 1 true
	// <nil> false
}
