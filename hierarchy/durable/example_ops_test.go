package durable_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// demo is timers on a mock clock, in a temporary directory.
type demo struct {
	*durable.Keyed[string, string]
	clock *clock.Mock
	dir   string
}

// newDemo opens timers for an example.
func newDemo(handle func(context.Context, durable.Firing[string, string]) error) demo {
	dir, err := os.MkdirTemp("", "timers")
	if err != nil {
		log.Fatal(err)
	}
	mock := clock.NewMock()
	timers, err := durable.Open(context.Background(), durable.Config[string, string]{
		Dir: dir, Clock: mock, Handle: handle, MaxAttempts: 2,
		Backoff: func(int) time.Duration { return time.Minute },
	})
	if err != nil {
		log.Fatal(err)
	}
	return demo{timers, mock, dir}
}

func (d demo) end() {
	d.Keyed.Close()
	os.RemoveAll(d.dir)
}

func printFiring(_ context.Context, f durable.Firing[string, string]) error {
	fmt.Println(f.Key, f.Value)
	return nil
}

// A wall time that was set follows the wall clock. A duration counts from the call.
func ExampleKeyed_SetAt() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	noon := time.Date(2030, time.May, 1, 12, 0, 0, 0, time.UTC)
	timers.clock.Set(noon.Add(-time.Hour))
	if _, err := timers.SetAt(ctx, "dentist", "is at noon", noon); err != nil {
		fmt.Println(err)
	}
	_, left, _, _ := timers.Get(ctx, "dentist")
	fmt.Println("in", left)
	timers.clock.Add(time.Hour)
	// Output:
	// in 1h0m0s
	// dentist is at noon
}

// Five seconds after the last of several changes, and a minute after the first of them at the latest.
func ExampleKeyed_SetDebounced() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	for _, change := range []string{"placed", "packed", "paid"} {
		if _, err := timers.SetDebounced(ctx, "index order-17", change, 5*time.Second, time.Minute); err != nil {
			fmt.Println(err)
		}
		timers.clock.Add(4 * time.Second)
		fmt.Println("changed")
	}
	timers.clock.Add(time.Second)
	// Output:
	// changed
	// changed
	// changed
	// index order-17 paid
}

// Move changes when a timer is due, and nothing else.
func ExampleKeyed_Move() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	_, _ = timers.Set(ctx, "session", "expires", time.Minute)
	timers.clock.Add(50 * time.Second)
	_, moved, err := timers.Move(ctx, "session", time.Minute)
	fmt.Println(moved, err)
	timers.clock.Add(50 * time.Second)
	fmt.Println("still there")
	timers.clock.Add(10 * time.Second)
	_, moved, err = timers.Move(ctx, "session", time.Minute)
	fmt.Println(moved, err)
	// Output:
	// true <nil>
	// still there
	// session expires
	// false <nil>
}

// A Batch costs little more than one operation. Took tells what each one answers.
func ExampleKeyed_Batch() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	var b durable.Batch[string, string]
	b.Set("order 1", "is not paid", time.Hour)
	b.Set("order 2", "is not paid", 2*time.Hour)
	b.Remove("order 3")
	if err := timers.Batch(ctx, &b); err != nil {
		fmt.Println(err)
	}
	for i := range b.Len() {
		fmt.Println(b.Took(i))
	}
	timers.clock.Add(2 * time.Hour)
	// Output:
	// true
	// true
	// false
	// order 1 is not paid
	// order 2 is not paid
}

// What each Remove of a Batch has removed is there after it.
func ExampleBatch_Removed() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	_, _ = timers.Set(ctx, "order 1", "is not paid", time.Hour)
	var b durable.Batch[string, string]
	b.Remove("order 1")
	b.Remove("order 2")
	if err := timers.Batch(ctx, &b); err != nil {
		fmt.Println(err)
	}
	for i := range b.Len() {
		fmt.Println(b.Removed(i))
	}
	// Output:
	// is not paid true <nil>
	//  false <nil>
}

func ExampleKeyed_All() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	_, _ = timers.Set(ctx, "tea", "is ready", 5*time.Minute)
	for e, err := range timers.All(ctx) {
		fmt.Println(e.Key, e.Value, "at", e.Due.UTC().Format(time.TimeOnly), err)
	}
	n, err := timers.Len(ctx)
	fmt.Println(n, err)
	// Output:
	// tea is ready at 00:05:00 <nil>
	// 1 <nil>
}

// After MaxAttempts a timer is dead. It is kept until somebody looks.
func ExampleKeyed_Dead() {
	broken := true
	ctx, timers := context.Background(), newDemo(func(_ context.Context, f durable.Firing[string, string]) error {
		fmt.Println(f.Key, "attempt", f.Attempt)
		if broken {
			return errors.New("the mail server is down")
		}
		return nil
	})
	defer timers.end()
	_, _ = timers.Set(ctx, "mail 7", "hello", time.Second)
	timers.clock.Add(time.Hour)
	broken = false
	for f, err := range timers.Dead(ctx) {
		fmt.Println("dead:", f.Key, err)
		revived, err := timers.Revive(ctx, f.Key)
		fmt.Println(revived, err)
	}
	timers.clock.Add(0)
	// Output:
	// mail 7 attempt 1
	// mail 7 attempt 2
	// dead: mail 7 <nil>
	// true <nil>
	// mail 7 attempt 1
}

// A timer keeps its ID over attempts and crashes. An effect that is stored with the ID happens
// once.
func ExampleFiring() {
	done := map[string]bool{} // a table in a database, with the ID as key
	ctx, timers := context.Background(), newDemo(func(_ context.Context, f durable.Firing[string, string]) error {
		if done[f.ID.String()] {
			fmt.Println(f.Key, "was done before")
			return nil
		}
		fmt.Println(f.Key, f.Value)
		done[f.ID.String()] = true // in the transaction of the effect
		if f.Attempt == 1 {
			return errors.New("the connection is lost after the commit")
		}
		return nil
	})
	defer timers.end()
	_, _ = timers.Set(ctx, "account 9", "pays 5 euros", time.Second)
	timers.clock.Add(time.Hour)
	// Output:
	// account 9 pays 5 euros
	// account 9 was done before
}

func ExampleKeyed_Stats() {
	ctx, timers := context.Background(), newDemo(printFiring)
	defer timers.end()
	for i := range 10 {
		_, _ = timers.Set(ctx, fmt.Sprint("job ", i), "", time.Hour)
	}
	_, _, _ = timers.Remove(ctx, "job 3")
	st := timers.Stats()
	fmt.Println(st.Pending, "pending,", st.Set, "set,", st.Frames, "frames written")
	// Output: 9 pending, 10 set, 11 frames written
}

// Shutdown waits for the handlers that run. What is pending is there after the next Open.
func ExampleKeyed_Shutdown() {
	timers := newDemo(printFiring)
	defer timers.end()
	_, _ = timers.Set(context.Background(), "tea", "is ready", time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(timers.Shutdown(ctx))
	timers.clock.Add(time.Hour) // nothing fires
	_, err := timers.Set(ctx, "tea", "", 0)
	fmt.Println(errors.Is(err, durable.ErrClosed))
	// Output:
	// <nil>
	// true
}
