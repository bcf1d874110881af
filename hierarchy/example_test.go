package hierarchy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func ExampleNew() {
	m := clock.NewMock() // in production, leave Clock out
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	if err != nil {
		panic(err)
	}
	defer w.Stop()
	_, err = w.AfterFunc(1500*time.Millisecond, func() { fmt.Println("fired at", m.Elapsed()) })
	if err != nil {
		panic(err)
	}
	m.Add(time.Minute)
	// Output: fired at 1.5s
}

func ExampleTimer_Stop() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	timer, _ := w.AfterFunc(time.Second, func() { fmt.Println("never printed") })
	fmt.Println(timer.Stop(), timer.Stop())
	m.Add(time.Minute)
	// Output: true false
}

func ExampleTimer_Reset() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	timer, _ := w.AfterFunc(time.Second, func() { fmt.Println("fired at", m.Elapsed()) })
	m.Add(900 * time.Millisecond)
	fmt.Println(timer.Reset(time.Second))
	m.Add(time.Minute)
	fmt.Println(timer.Reset(time.Second)) // too late
	// Output:
	// true
	// fired at 1.9s
	// false
}

func ExampleWheel_Every() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	r, _ := w.Every(7*time.Second, func() { fmt.Println("run at", m.Elapsed()) })
	m.Add(15 * time.Second)
	r.Reset(time.Minute)
	m.Add(time.Minute)
	r.Stop()
	m.Add(time.Hour)
	// Output:
	// run at 7s
	// run at 14s
	// run at 1m15s
}

// daily is a Schedule with one time of the day. Those of hierarchy/schedule have the syntax of cron.
type daily time.Duration

func (d daily) Next(now time.Time) time.Time {
	next := now.Truncate(24 * time.Hour).Add(time.Duration(d))
	if !next.After(now) {
		next = next.Add(24 * time.Hour)
	}
	return next
}

func ExampleWheel_Schedule() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	_, _ = w.Schedule(daily(6*time.Hour), func() { fmt.Println(m.Now().UTC().Format(time.DateTime)) })
	m.Add(48 * time.Hour)
	// Output:
	// 1970-01-01 06:00:00
	// 1970-01-02 06:00:00
}

func ExampleWheel_NewTimer() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	timer, _ := w.NewTimer(time.Second)
	m.Add(time.Minute)
	timer.Reset(2 * time.Second) // discards the value of the first second
	m.Add(time.Minute)
	fmt.Println((<-timer.C).UTC().Format(time.TimeOnly))
	fmt.Println(timer.Stop())
	// Output:
	// 00:01:02
	// false
}

func ExampleWheel_NewTicker() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	ticker, _ := w.NewTicker(time.Second)
	defer ticker.Stop()
	for range 3 {
		m.Add(time.Second)
		fmt.Println((<-ticker.C).UTC().Format(time.TimeOnly))
	}
	// Output:
	// 00:00:01
	// 00:00:02
	// 00:00:03
}

func ExampleWheel_Sleep() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	ctx := context.Background()
	woken := make(chan error)
	go func() { woken <- w.Sleep(ctx, time.Hour) }()
	_ = m.WaitFor(ctx, 1) // until the goroutine sleeps
	m.Add(time.Hour)
	fmt.Println(<-woken)
	// Output: <nil>
}

func ExampleWheel_WithTimeout() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()
	ctx, cancel := w.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m.Add(time.Second)
	<-ctx.Done()
	fmt.Println(ctx.Err())
	// Output: context deadline exceeded
}

func ExampleOf() {
	type lease struct{ owner string }
	m := clock.NewMock()
	w, _ := hierarchy.NewOf(hierarchy.Config{Clock: m}, func(l lease) {
		fmt.Println(l.owner, "expired at", m.Elapsed())
	})
	defer w.Stop()
	_, _ = w.Set(lease{"alice"}, 2*time.Second)
	_, _ = w.Set(lease{"bob"}, time.Second)
	m.Add(time.Minute)
	// Output:
	// bob expired at 1s
	// alice expired at 2s
}

func ExampleKeyed() {
	m := clock.NewMock()
	w, _ := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(session string, user int) {
		fmt.Println(session, "of user", user, "expired at", m.Elapsed())
	})
	defer w.Stop()
	_ = w.Set("a", 1, time.Minute)
	_ = w.Set("b", 2, time.Minute)
	_ = w.Set("c", 3, time.Minute)
	m.Add(30 * time.Second)
	_, _ = w.Move("a", time.Minute) // seen again
	user, _ := w.Remove("b")        // logged out
	fmt.Println("user", user, "left")
	m.Add(time.Hour)
	// Output:
	// user 2 left
	// c of user 3 expired at 1m0s
	// a of user 1 expired at 1m30s
}

// A wheel that is stopped drops its pending timers. A service that must not lose them
// drains the wheel first.
func ExampleKeyed_Drain() {
	w, _ := hierarchy.NewKeyed(hierarchy.Config{}, func(order int, what string) { fmt.Println("retry", order, what) })
	_ = w.Set(1, "coffee", time.Hour)
	_ = w.Set(2, "tea", time.Minute)

	n := w.Drain(func(order int, what string) { fmt.Println("save", order, what) })
	fmt.Println(n, "saved")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(w.Shutdown(ctx)) // waits for callbacks that run
	// Output:
	// save 2 tea
	// save 1 coffee
	// 2 saved
	// <nil>
}

func ExampleConfig_maxPending() {
	w, _ := hierarchy.New(hierarchy.Config{Clock: clock.NewMock(), MaxPending: 1})
	defer w.Stop()
	timer, err := w.AfterFunc(time.Second, func() {})
	fmt.Println(err)
	_, err = w.AfterFunc(time.Second, func() {})
	fmt.Println(errors.Is(err, hierarchy.ErrFull))
	timer.Stop()
	_, err = w.AfterFunc(time.Second, func() {})
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// <nil>
}

func ExampleConfig_onPanic() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{
		Clock:   m,
		OnPanic: func(recovered any, stack []byte) { fmt.Println("recovered:", recovered) },
	})
	defer w.Stop()
	_, _ = w.AfterFunc(time.Second, func() { panic("oh") })
	_, _ = w.AfterFunc(time.Second, func() { fmt.Println("the other timer fires") })
	m.Add(time.Second)
	// Output:
	// recovered: oh
	// the other timer fires
}

func ExamplePool() {
	m := clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m, Executor: hierarchy.Pool(4)})
	defer w.Stop()
	var sum sync.WaitGroup
	sum.Add(100)
	for range 100 {
		_, _ = w.AfterFunc(time.Second, sum.Done) // at most four run at a time
	}
	m.Add(time.Second)
	sum.Wait()
	fmt.Println(w.Stats().Fired)
	// Output: 100
}

// workers is a caller's own worker pool.
type workers struct{ tasks chan func() }

func (p workers) Submit(task func()) { p.tasks <- task }

func ExampleExecutor() {
	m := clock.NewMock()
	pool := workers{make(chan func(), 16)}
	defer close(pool.tasks)
	go func() {
		for task := range pool.tasks {
			task()
		}
	}()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m, Executor: pool.Submit})
	defer w.Stop()
	_, _ = w.AfterFunc(time.Second, func() { fmt.Println("run by the pool") })
	m.Add(time.Second)
	// Output: run by the pool
}
