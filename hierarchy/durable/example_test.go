package durable_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// An order is cancelled after half an hour unless it is paid, also if the process was restarted
// meanwhile. A test uses a mock clock, and needs no waiting.
func ExampleOpen() {
	ctx, mock := context.Background(), clock.NewMock()
	dir, _ := os.MkdirTemp("", "timers")
	defer os.RemoveAll(dir)
	cfg := durable.Config[string, int]{
		Dir:   dir,
		Clock: mock,
		Handle: func(_ context.Context, f durable.Firing[string, int]) error {
			fmt.Println("cancel", f.Key, "of customer", f.Value)
			return nil
		},
	}
	timers, err := durable.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = timers.Set(ctx, "order 1", 17, 30*time.Minute)
	_, _ = timers.Set(ctx, "order 2", 18, 30*time.Minute)
	customer, ok, _ := timers.Remove(ctx, "order 2")
	fmt.Println("paid by", customer, ok)
	_ = timers.Close()

	mock.Add(10 * time.Minute)
	timers, err = durable.Open(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer timers.Close()
	mock.Add(20 * time.Minute)
	// Output:
	// paid by 18 true
	// cancel order 1 of customer 17
}
