package durable_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// Two processes share the timers of a name on NATS servers. One sets a timer, and it fires in the one
// that owns its partition. Here both are in one process.
func ExampleConfig_conn() {
	url, end := exampleServer()
	defer end()
	ctx, fired := context.Background(), make(chan string)
	open := func() *durable.Keyed[string, int] {
		nc, err := nats.Connect(url, nats.MaxReconnects(-1)) // in production all servers, with commas between
		if err != nil {
			panic(err)
		}
		timers, err := durable.Open(ctx, durable.Config[string, int]{
			Conn: nc,
			Handle: func(_ context.Context, f durable.Firing[string, int]) error {
				fired <- fmt.Sprint("cancel ", f.Key, " of customer ", f.Value)
				return nil
			},
		})
		if err != nil {
			panic(err)
		}
		return timers
	}
	one, two := open(), open()
	fmt.Println(len(two.Stats().Members), "processes")
	_, _ = one.Set(ctx, "order 1", 17, time.Second)
	customer, _, ok, _ := two.Get(ctx, "order 1")
	fmt.Println(customer, ok)
	fmt.Println(<-fired)
	_ = one.Shutdown(ctx) // gives its partitions to the other
	n, _ := two.Len(ctx)  // waits until all partitions are read
	for n > 0 || two.Stats().Owned < 8 {
		n, _ = two.Len(ctx) // until it is written that the handler has returned
	}
	fmt.Println(n, "timers,", two.Stats().Owned, "partitions")
	_ = two.Shutdown(ctx)
	// Output:
	// 2 processes
	// 17 true
	// cancel order 1 of customer 17
	// 0 timers, 8 partitions
}

// exampleServer starts a NATS server. It is one of several in production.
func exampleServer() (url string, end func()) {
	dir, err := os.MkdirTemp("", "server")
	if err != nil {
		panic(err)
	}
	all, err := servers.Cluster(1, func(int) string { return dir })
	if err != nil {
		panic(err)
	}
	all[0].Cluster = 0 // it is alone
	server, err := servers.Start(all[0])
	if err != nil {
		panic(err)
	}
	return all[0].URL(), func() {
		server.Shutdown()
		server.WaitForShutdown()
		os.RemoveAll(dir)
	}
}
