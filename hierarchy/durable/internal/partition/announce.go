package partition

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// This file has the attempts of Config.Announce. They begin with a call of Begin and end with a call of End; Handle is
// not called. No goroutine waits for such an attempt, it needs no place of the Crew, and its begin is not written to
// the log. The start of a schedule's run is written to the log before the run is announced.

// announce calls Config.Announce. The timer is held until Begin is called.
func (f *firer) announce(j core.Job) {
	f.mu.assertHeld()
	t := f.core.State.Timer(j.Ref)
	f.lateness.Add(time.Duration(f.time.since(j.Due.Since, j.Due.Wall)))
	err := j.Invalid
	if err == nil {
		err = f.cfg.Announce(f.core.Firing(&t, state.AfterAttempt(t.Attempt)))
	}
	if err != nil {
		a := f.taken(j)
		go f.end(a, err)
	}
}

// taken returns an attempt that has begun without a handler.
func (f *firer) taken(j core.Job) *attempt {
	f.active++
	f.fired++
	a := f.started(j, nil)
	a.Called = true
	f.cfg.Crew.entered(a)
	return a
}

// withdrawAll withdraws all timers that wait for Begin. It is called when the partition has ended.
func (f *firer) withdrawAll() {
	if f.cfg.Withdrawn == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.core.Held() {
		f.cfg.Withdrawn(w)
	}
}

// end ends an attempt without a handler.
func (f *firer) end(a *attempt, err error) {
	f.cfg.Crew.returned(a)
	a.cancel(nil)
	f.finished(a, err)
}

// Taken is an attempt that Begin has begun.
type Taken struct {
	core.Firing
	p *Partition
	a *attempt
}

// Begin begins an attempt of a timer that was announced. ok is false if the key has another timer by now, if the timer
// has an attempt, or if no attempt may begin now. In the last case the timer is announced again later. Begin does not
// wait.
func (p *Partition) Begin(key []byte, id frame.ID) (t Taken, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ref, ok := p.waits(key, id)
	f := &p.firer
	if !ok || f.stopped {
		return t, false
	}
	j := f.core.Announced(ref, p.time.now())
	if !f.mayFire() || f.core.IsClaimed(id) {
		f.core.Delay(j)
		return t, false
	}
	a := f.taken(j)
	return Taken{a.Firing, p, a}, true
}

// Waits reports whether a timer that was announced still waits for Begin.
func (p *Partition) Waits(key []byte, id frame.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.waits(key, id)
	return ok
}

func (p *Partition) waits(key []byte, id frame.ID) (state.Ref, bool) {
	t, ref, ok := p.core.State.Find(key)
	return ref, ok && t.ID == id && p.core.State.Held(ref, id)
}

// Context returns the context of the attempt. The context is done when the timer was set, moved or removed, and when
// the partition ends.
func (t *Taken) Context() context.Context { return t.a.ctx }

// End ends the attempt as Handle does by returning err. It reports whether the end is in the log. If the timer was set,
// moved or removed since Begin, or if the attempt was ended by its token, the end is not in the log. If the attempt was
// left to the next owner, the error is ErrLeft. End must be called once.
func (t *Taken) End(ctx context.Context, err error) (bool, error) {
	logged := make(chan bool, 1)
	t.a.logged = logged
	t.p.firer.end(t.a, err)
	if over, err := t.p.firer.isOver(t.a); over {
		return false, err
	}
	select {
	case took := <-logged:
		return t.p.outcome(took)
	case <-ctx.Done():
		return false, ctx.Err()
	case <-t.p.writer.stopped:
	}
	select {
	case took := <-logged:
		return t.p.outcome(took)
	default:
		return false, ErrUnavailable
	}
}

// outcome returns ErrUnavailable for an end that may not be in the log because nothing is written any more.
func (p *Partition) outcome(took bool) (bool, error) {
	if !took && p.writer.queue.isOver() {
		return false, ErrUnavailable
	}
	return took, nil
}

// settled reports to the waiting End, if any, whether the end of the attempt is in the log.
func (a *attempt) settled(took bool) {
	if a.logged != nil {
		a.logged <- took
	}
	a.done.Set()
}
