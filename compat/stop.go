package compat

import "context"

// Stop stops the wheel: pending timers are dropped, no further task begins, and other
// calls return ErrClosed. Drain's function is still called for all timers that Drain
// has removed. Stop does not wait for running tasks; Shutdown does. Further calls do
// nothing.
func (tw *TimingWheel) Stop() {
	requireMade(tw.wheel != nil, "TimingWheel")
	tw.closed.Store(true)
	tw.drains.close()
	tw.wheel.Stop()
	if tw.ticks != nil {
		tw.ticks.stop()
	}
}

// Shutdown calls Stop, then waits until all running tasks have returned, Drain's function
// has returned for all drained timers, and the wheel's ticker is stopped. When Shutdown
// returns nil, no goroutine of the wheel is running and none will be started. If ctx is
// done first, Shutdown returns its error; tasks and Drain's function go on, and Shutdown
// may be called again to wait for them.
//
// Inside a task, or inside Drain's function, Shutdown waits for its own caller, and returns
// only when ctx is done. Call Stop there, or call Shutdown in another goroutine.
func (tw *TimingWheel) Shutdown(ctx context.Context) error {
	if ctx == nil {
		panic("compat: Shutdown with a nil context")
	}
	tw.Stop()
	if err := tw.wheel.Shutdown(ctx); err != nil {
		return err
	}
	if err := wait(ctx, tw.drains.finished); err != nil || tw.ticks == nil {
		return err
	}
	return wait(ctx, tw.ticks.returned)
}

// wait returns nil when done is closed, or ctx's error if ctx is done first. If done is
// closed already, it returns nil whatever ctx says.
func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
