package hierarchy

import (
	"context"
	"time"
)

// Sleep returns nil after d, at once if d <= 0. It returns ctx's error if ctx is done
// first, ErrClosed if the wheel is stopped first, and ErrFull if the wheel is full.
func (w *Wheel) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.core.over() {
		return ErrClosed
	}
	if d <= 0 {
		return nil
	}
	awake := make(chan struct{})
	t, err := w.core.add(func() { close(awake) }, w.core.now(), d, runInWake)
	if err != nil {
		return err
	}
	select {
	case <-awake:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-w.core.done:
		err = ErrClosed
	}
	t.Stop()
	select {
	case <-awake: // d had passed, too
		return nil
	default:
		return err
	}
}
