// Package durable has named timers that outlive the process. They are those of hierarchy.Keyed:
// set, moved and removed by their keys, and fired at the millisecond. What was set survives a
// crash of the process and of the machine.
//
// Open needs a directory and a function that handles what is due:
//
//	timers, err := durable.Open(ctx, durable.Config[string, Order]{
//		Dir:    "/var/lib/shop/timers",
//		Handle: func(ctx context.Context, f durable.Firing[string, Order]) error { return cancelOrder(ctx, f.Value) },
//	})
//	err = timers.Set(ctx, order.ID, order, 30*time.Minute)
//	_, paid, err := timers.Remove(ctx, order.ID)
//
// An operation that returned nil is on the disk. A timer is handed over until its handler has
// returned nil. After a crash the same one can come again, with the same ID: an effect that is
// stored together with the ID happens once.
//
// The directory is kept by a NATS server inside the process, which has no port. DESIGN.md and
// FORMAT.md in the module's directory describe the log and its bytes.
package durable
