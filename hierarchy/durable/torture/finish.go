//go:build linux

package main

import "context"

// finish waits until all has fired.
func (w *world) finish(ctx context.Context) error {
	w.tell("read")
	if err := w.await(ctx, idleTime, isRead); err != nil {
		return err
	}
	if setsClocks(&w.options) {
		if err := w.renew(ctx); err != nil {
			return err
		}
	}
	w.tell("finish")
	return w.await(ctx, idleTime, isIdle)
}

// renew has other workers take all over, whose clocks are ahead. What an owner has set whose clock was
// ahead by an hour is due by the next owner's clock in an hour. So is what is left for an owner whose
// clock was behind.
func (w *world) renew(ctx context.Context) error {
	old := w.all()
	w.mu.Lock()
	w.last = true
	w.mu.Unlock()
	for range old {
		w.replace()
	}
	if err := w.await(ctx, startTime, isOpen); err != nil {
		return err
	}
	for _, m := range old {
		m.process.term()
	}
	for _, m := range old {
		m.ends()
	}
	return nil
}

// tell sends a line to all workers.
func (w *world) tell(line string) {
	for _, m := range w.all() {
		m.tell(line)
	}
}
