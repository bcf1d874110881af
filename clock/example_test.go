package clock_test

import (
	"context"
	"fmt"
	"time"

	benbjohnson "github.com/benbjohnson/clock"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func ExampleMock() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	w.AfterFunc(90*time.Minute, func() { fmt.Println("fires at", m.Elapsed()) })
	m.Add(time.Hour)
	fmt.Println("moved to", m.Elapsed())
	m.Add(time.Hour)
	fmt.Println("moved to", m.Elapsed())
	// Output:
	// moved to 1h0m0s
	// fires at 1h30m0s
	// moved to 2h0m0s
}

// The code under test sets its timers in goroutines. Before the clock is moved,
// WaitFor waits until they are set.
func ExampleMock_WaitFor() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	sessions := []string{"ann", "bob", "cid"}
	for i, name := range sessions {
		go func() {
			timeout := time.Duration(i+1) * time.Minute
			w.AfterFunc(timeout, func() { fmt.Println(name, "expires at", m.Elapsed()) })
		}()
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := m.WaitFor(ctx, len(sessions)); err != nil {
		fmt.Println(err)
	}
	m.Add(time.Hour)
	// Output:
	// ann expires at 1m0s
	// bob expires at 2m0s
	// cid expires at 3m0s
}

// The code under test moves its timer in a goroutine, so there is always one pending. WaitNext
// waits until it has been moved.
func ExampleMock_WaitNext() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	timeout, _ := w.AfterFunc(time.Minute, func() { fmt.Println("timed out at", m.Elapsed()) })
	m.Add(50 * time.Second)
	go timeout.Reset(time.Minute) // a message came

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := m.WaitNext(ctx, time.Minute); err != nil {
		fmt.Println(err)
	}
	m.Add(time.Hour)
	// Output: timed out at 1m50s
}

func ExampleMock_AddNext() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	w.AfterFunc(time.Second, func() { fmt.Println("soon") })
	w.AfterFunc(1000*time.Hour, func() { fmt.Println("some day") })
	for {
		d, ok := m.AddNext()
		if !ok {
			break
		}
		fmt.Println("went", d)
	}
	// Output:
	// soon
	// went 1s
	// some day
	// went 999h59m59s
}

// A jump sets the wall clock. Timers count elapsed time and are unaffected.
func ExampleMock_Jump() {
	m := clock.NewMock()
	before := m.Now()
	m.Jump(-time.Hour)
	fmt.Println("wall time:", m.Now().Sub(before))
	fmt.Println("elapsed:", m.Elapsed())
	// Output:
	// wall time: -1h0m0s
	// elapsed: 0s
}

// Code that takes a benbjohnson clock can use the same mock as wheels.
func ExampleMock_Benbjohnson() {
	m := clock.NewMock()
	poll := func(c benbjohnson.Clock) <-chan time.Time { return c.After(time.Minute) }

	due := poll(m.Benbjohnson())
	m.Add(time.Minute)
	fmt.Println((<-due).Format(time.TimeOnly))
	// Output: 00:01:00
}

func ExampleWrap() {
	c := clock.Wrap(benbjohnson.NewMock())
	fmt.Println(c, c.Elapsed())
	// Output: wrapped *clock.Mock 0s
}
