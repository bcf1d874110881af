package hierarchy

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Sleep returns nil after d, or at once if d <= 0. It returns ctx's error if ctx is done first, ErrClosed if the wheel
// is stopped first, and ErrFull if the wheel is full.
func (w *Wheel) Sleep(ctx context.Context, d time.Duration) error {
	engine.RequireContext(ctx, "Sleep")
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.core.Closed() {
		return ErrClosed
	}
	if d <= 0 {
		return nil
	}
	now := w.core.Now()
	if w.core.PassSoon(now, d) {
		return nil
	}
	s, _ := w.sleepers.Get().(*sleeper)
	if s == nil {
		s = newSleeper()
	}
	t, err := w.core.Add(s.wake, now, d, engine.RunInWake|engine.CallOnStop)
	if err != nil {
		return err
	}
	if s.sleep(ctx, t) {
		err = w.wokenBy(engine.DeadlineAfter(now, d))
	} else {
		err = ctx.Err()
	}
	w.sleepers.Put(s)
	return err
}

// sleep waits until t has fired or was dropped, and then returns true, or until ctx is done and t is stopped.
func (s *sleeper) sleep(ctx context.Context, t engine.Handle) (woken bool) {
	done := ctx.Done()
	if done == nil { // receiving from one channel costs less
		<-s.awake
		return true
	}
	select {
	case <-s.awake:
		return true
	case <-done:
	}
	if t.Stop() {
		return false
	}
	<-s.awake // s was just being woken
	return true
}

// wokenBy returns the result of a Sleep that was woken: nil if its timer fired at due, or ErrClosed if the wheel was
// stopped before.
func (w *Wheel) wokenBy(due int64) error {
	if w.core.Closed() && w.core.Now() < due {
		return ErrClosed
	}
	return nil
}

// sleeper is what a goroutine sleeps on. It is reused, because it costs more to make than to sleep. Each wheel has its
// own sleepers, because a testing/synctest bubble can't use a channel from outside.
type sleeper struct {
	awake chan struct{}
	wake  func()
}

func newSleeper() *sleeper {
	s := &sleeper{awake: make(chan struct{}, 1)}
	s.wake = func() { s.awake <- struct{}{} }
	return s
}
