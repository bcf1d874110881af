// Package durable provides named timers that outlive the process. Like those of hierarchy.Keyed,
// they are set, moved and removed by key, and fire to the millisecond. They survive a crash of the
// process and of the machine.
//
// Use it for what must happen later and must not be forgotten: cancelling an order in half an hour
// unless it is paid, a retry that survives a deploy, the end of a trial period, a delayed message.
// A timer can also repeat by a schedule, as with cron. It is not for workflows, or for effects
// outside of a transaction that must happen exactly once.
//
// Open needs a directory and a function that handles what is due:
//
//	timers, err := durable.Open(ctx, durable.Config[string, Order]{
//		Dir:    "/var/lib/shop/timers",
//		Handle: func(ctx context.Context, f durable.Firing[string, Order]) error { return cancelOrder(ctx, f.Value) },
//	})
//	_, err = timers.Set(ctx, order.ID, order, 30*time.Minute)
//	_, wasUnpaid, err := timers.Remove(ctx, order.ID)
//
// # Promises
//
//   - Durable: an operation that returned nil or true is on the disk. It survives kill -9 and a loss of
//     power.
//   - Linearizable: all operations on a key are committed in one order, which agrees with real time.
//   - At least once: Handle is called until it returns nil, or until the timer is dead, after MaxAttempts.
//     Once Remove, Move or Set has returned, Handle is not called for the timer that was there before.
//   - Never early, by the owner's clock. Late by at most Precision, the wake-up, and the handlers that are
//     queued before it.
//   - Damage is reported, never skipped: calls for the keys of a log in which data is missing or altered
//     return ErrDamaged. The other logs go on.
//   - An idle process writes nothing and has no ticker.
//
// After a crash the same timer can fire again, with the same ID. An effect that is stored together
// with the ID happens once: see Firing.
//
// # Errors, retries and tests
//
// An operation that returned an error was not committed, unless the error is ErrUnavailable or the error of the
// context: then it may have been committed. Retry it.
//
// A handler that returns an error, panics, or exits its goroutine has failed. It is called again
// after Config.Backoff, at most Config.MaxAttempts times. Then the timer is dead: it is kept, and
// Dead lists it, until Revive, Remove or Set.
//
// With a *clock.Mock as Config.Clock, tests need not wait: when Add returns, the handlers of all timers that
// were due have returned.
//
// # Several processes
//
// With Config.Conn, a connection to NATS servers with JetStream, several processes share the timers of a
// Name. Each owns some of the partitions, and fires their timers. Any of them may set, move and remove any
// timer. Shutdown hands the partitions of a process over to the others, almost without a gap. If a process is
// killed, they take over after 1.25 Config.Lease.
//
// A process with Config.Conn and no Config.Handle is a caller: it sets, moves, removes and reads timers by the
// processes that have a Handle, and owns no partition.
//
// A process whose lease has expired begins no handler and acknowledges nothing: calls wait until it has its
// lease again or another process has taken over, and return ErrUnavailable after a minute. An append that was
// in flight may still be committed until the takeover; from then on the log refuses the old owner. Handlers that
// were running keep running: Firing.Epoch distinguishes them from those of the next owner.
//
// docs/durable-operations.md in the repository describes operation in a directory, docs/durable-cluster.md that of several
// processes. DESIGN.md and FORMAT.md in the module's directory describe the log and its bytes.
package durable
