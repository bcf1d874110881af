package durable

import "context"

// Shutdown dispatches no further timer, and waits for the handlers that run. When ctx is done, it
// ends their contexts and waits no longer. Then it writes what is left to be written, and that the
// process has ended in order. If the log does not answer, it gives up a second after the end of ctx. If
// ctx has no deadline, it gives up after five seconds, and with Config.Conn after fifteen: servers may
// have to find a leader first. The calls that wait for the log are ErrUnavailable then, or ErrClosed if
// they did not take hold.
//
// With Config.Conn, the partitions are given to the other processes, which go on with them at once. Until
// another is ready for a partition, its timers are dispatched here. For this Shutdown waits at most a
// lease, or half of what ctx has left if that is less. If no server answers at all, it gives up three seconds
// after the end of ctx, or after twenty if ctx has no deadline.
//
// If ctx ended before all this was done, Shutdown returns ctx's error. If the log did not answer, the
// error says why. Nothing that was acknowledged is lost, and what was due comes again after the next
// Open. Inside a handler, Shutdown waits for that handler too.
func (w *Keyed[K, V]) Shutdown(ctx context.Context) error { return w.owners.Shutdown(ctx) }

// Close is Shutdown that does not wait for handlers. With Config.Conn it gives nothing to others: they
// have to wait until the lease has run out. If the log does not answer, Close gives up after a
// second. It returns nil.
func (w *Keyed[K, V]) Close() error {
	w.owners.Close()
	return nil
}
