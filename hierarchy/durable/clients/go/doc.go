// Package epicycle is a client of the service epicycle: durable timers over HTTP.
//
//	client, err := epicycle.New("http://127.0.0.1:8421", epicycle.Options{})
//	timer, err := client.Set(ctx, "order-17", Order{17}, 30*time.Minute, epicycle.Queue("orders"))
//	err = client.Work(ctx, "orders", epicycle.Worker{Concurrency: 10}, cancel)
//
// Its methods are named like those of durable.Keyed, which is for Go programs that have the timers in their own process.
// It needs the standard library only, and is a module of its own, so that it adds nothing else to a program's go.sum.
package epicycle
