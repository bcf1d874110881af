package durable

import "context"

// Shutdown begins no further handler, and waits for those that are running, unless they are stuck: see Config.Timeout.
// When ctx is done, it cancels their contexts and stops waiting. It does not wait for attempts that have a Token: they
// go on. Then it commits what is queued, and a record of the orderly end. If the log does not answer, Shutdown gives up
// a second after ctx is done. If ctx has no deadline, it gives up after five seconds, or with Config.Conn after fifteen,
// since servers may have to elect a leader first. Calls that wait for the log then return ErrUnavailable, or ErrClosed
// if they were not committed.
//
// With Config.Conn, Shutdown hands the partitions over to the other processes. Until another process is ready to take a
// partition, the timers of the partition fire in this process. Shutdown waits until the other processes are ready, but
// at most for a lease, or for half of the time that ctx has left if that is less. If no server answers at all, it gives
// up three seconds after ctx is done, or after twenty if ctx has no deadline.
//
// A caller has nothing to hand over, so Shutdown ends it at once, like Close: calls that wait for an answer return
// ErrUnavailable, or ErrClosed if they were not sent.
//
// If ctx ended before all this was done, Shutdown returns ctx's error. If the log did not answer, it returns
// the reason. Nothing that was acknowledged is lost, and timers whose handlers have not returned fire again after
// the next Open. Called by a handler, Shutdown waits for that handler too.
func (w *Keyed[K, V]) Shutdown(ctx context.Context) error {
	defer w.crew.Close()
	return w.owners.Shutdown(ctx)
}

// Close is like Shutdown, but cancels the contexts of handlers at once and does not wait for them. With
// Config.Conn it hands nothing over: other processes take over when the lease has expired. If the log does not
// answer, Close gives up after a second. It returns nil.
func (w *Keyed[K, V]) Close() error {
	w.owners.Close()
	w.crew.Close()
	return nil
}
