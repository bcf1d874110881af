// Package durable has named timers that outlive the process. They are those of hierarchy.Keyed:
// set, moved and removed by their keys, and fired at the millisecond. What was set survives a
// crash of the process and of the machine.
//
// It is for what must happen later and must not be forgotten: an order is cancelled in half an hour
// unless it is paid, a retry survives a deploy, a trial period ends, a lease expires, a message is
// delayed. It is not for workflows, for cron, or for effects outside of a transaction that must
// happen exactly once.
//
// Open needs a directory and a function that handles what is due:
//
//	timers, err := durable.Open(ctx, durable.Config[string, Order]{
//		Dir:    "/var/lib/shop/timers",
//		Handle: func(ctx context.Context, f durable.Firing[string, Order]) error { return cancelOrder(ctx, f.Value) },
//	})
//	err = timers.Set(ctx, order.ID, order, 30*time.Minute)
//	_, wasUnpaid, err := timers.Remove(ctx, order.ID)
//
// # Promises
//
//   - What was acknowledged stays: an operation that returned nil or true is on the disk. It survives
//     kill -9 and a loss of power.
//   - All operations on a key take hold in one order, which agrees with real time.
//   - At least once: Handle is called until it has returned nil, or until the timer is dead, after
//     MaxAttempts. Once Remove, Move or Set has returned, it is not called for what the timer was
//     before.
//   - Never early, by the owner's clock. Late by at most Precision, the wake-up, and what is queued
//     before.
//   - Damage is said, never skipped: a log that lacks something is ErrDamaged. The others go on.
//   - Idle costs nothing.
//
// After a crash the same timer can come again, with the same ID. An effect that is stored together
// with the ID happens once: see Firing.
//
// # What to know
//
// An operation that returned an error did not take hold, unless the error is ErrUnavailable or that
// of the context: then it may have. Do it again.
//
// A handler that returns an error, panics, or exits its goroutine has failed. It is called again
// after Config.Backoff, at most Config.MaxAttempts times. Then the timer is dead: it is kept, and
// Dead lists it, until Revive, Remove or Set.
//
// With a *clock.Mock as Config.Clock, tests need not wait: when Add returns, the handlers of what
// was due have returned.
//
// # Several processes
//
// With Config.Conn, a connection to NATS servers with JetStream, several processes share the timers of a
// Name. Each owns some of the partitions, and fires their timers. Any of them may set, move and remove any
// timer. When a process ends by Shutdown, the others get its partitions without a gap worth mentioning.
// When it is killed, they take them over after 1.25 Config.Lease. A process whose lease has ended begins no
// handler, and what it writes is refused. What its handlers had begun goes on: Firing.Epoch tells them from
// those of the next owner.
//
// The directory is kept by a NATS server inside the process, which has no port. docs/durable.md in
// the repository says how to run it: disk, backup, what to watch. DESIGN.md and FORMAT.md in the
// module's directory describe the log and its bytes.
package durable
