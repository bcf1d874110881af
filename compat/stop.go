package compat

import "context"

// Stop stops the wheel: pending timers are dropped, no further task begins, and all
// other calls return ErrClosed. Drain's function is still called for all timers that
// Drain removed before. Stop does not wait for tasks that run: Shutdown does. Further
// calls do nothing.
func (tw *TimingWheel) Stop() {
	tw.closed.Store(true)
	tw.drains.close()
	tw.wheel.Stop()
	if tw.ticks != nil {
		tw.ticks.stop()
	}
}

// Shutdown calls Stop, then waits until all tasks that run and all calls of Drain's
// function have returned, those included that have not begun yet, and until the
// wheel's ticker is stopped. When it returns nil, nothing of the wheel runs any more
// and nothing will. Otherwise it returns ctx's error when ctx is done; what it waited
// for goes on, and Shutdown may be called again to wait for it.
//
// Inside a task, or inside Drain's function, Shutdown waits for its own caller, so
// that it always ends with ctx: call Stop there, or go Shutdown.
func (tw *TimingWheel) Shutdown(ctx context.Context) error {
	tw.Stop()
	if err := tw.wheel.Shutdown(ctx); err != nil {
		return err
	}
	if err := wait(ctx, tw.drains.finished); err != nil || tw.ticks == nil {
		return err
	}
	return wait(ctx, tw.ticks.returned)
}

// wait returns nil when done is closed, or ctx's error if ctx is done before.
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
