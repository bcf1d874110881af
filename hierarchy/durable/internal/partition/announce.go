package partition

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// This file has the attempts of Config.Announce. They begin with a call of Begin and end with a call of End; Handle is
// not called. No goroutine waits for such an attempt, it needs no place of the Crew, and its begin is not written to
// the log. The start of a schedule's run is written to the log before the run is announced.

// announce calls Config.Announce. The timer is held until Begin is called.
func (f *firer) announce(j job) {
	f.mu.assertHeld()
	t := f.state.Timer(j.ref)
	f.lateness.Add(time.Duration(f.time.since(j.due.Since, j.due.Wall)))
	err := j.invalid
	if err == nil {
		err = f.cfg.Announce(f.cfg.firing(&t, state.AfterAttempt(t.Attempt), f.epoch))
	}
	if err != nil {
		a := f.taken(j)
		go f.end(a, err)
	}
}

// taken returns an attempt that has begun without a handler.
func (f *firer) taken(j job) *attempt {
	f.active++
	f.fired++
	j.done = nil
	a := f.started(j)
	a.called = true
	f.cfg.Crew.entered(a)
	return a
}

// withdraw calls Config.Withdrawn.
func (f *firer) withdraw(ref state.Ref) {
	f.mu.assertHeld()
	t := f.state.Timer(ref)
	f.cfg.Withdrawn(f.cfg.firing(&t, state.AfterAttempt(t.Attempt), f.epoch))
}

// withdrawAll withdraws all timers that wait for Begin. It is called when the partition has ended.
func (f *firer) withdrawAll() {
	if f.cfg.Withdrawn == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.EachHeld(f.withdraw)
}

// end ends an attempt without a handler.
func (f *firer) end(a *attempt, err error) {
	f.cfg.Crew.returned(a)
	a.cancel(nil)
	f.finished(a, err)
}

// Taken is an attempt that Begin has begun.
type Taken struct {
	Firing
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
	j := f.job(state.Due{Ref: ref, Since: p.time.now()})
	j.starts = false
	if !f.mayFire() || f.isClaimed(id) {
		f.delay(j)
		return t, false
	}
	a := f.taken(j)
	return Taken{a.firing, p, a}, true
}

// Waits reports whether a timer that was announced still waits for Begin.
func (p *Partition) Waits(key []byte, id frame.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.waits(key, id)
	return ok
}

func (p *Partition) waits(key []byte, id frame.ID) (state.Ref, bool) {
	t, ref, ok := p.state.Find(key)
	return ref, ok && t.ID == id && p.state.Held(ref, id)
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
	a.release()
}

// Final is the error of an attempt after which the timer is dead.
type Final struct{ Err error }

func (f *Final) Error() string { return textOf(f.Err) }
func (f *Final) Unwrap() error { return f.Err }

// Later is the error of an attempt. It sets the time until the next attempt is due, instead of Backoff.
type Later struct {
	Err error
	In  time.Duration
}

func (l *Later) Error() string { return textOf(l.Err) }
func (l *Later) Unwrap() error { return l.Err }

// Postponed is the error of an attempt that does not count. The next attempt has the same number, and is due after In.
type Postponed struct {
	Err error
	In  time.Duration
}

func (p *Postponed) Error() string { return textOf(p.Err) }
func (p *Postponed) Unwrap() error { return p.Err }

// failure returns the item that writes the failure of an attempt to the log.
func (cfg *Config) failure(j job, err error) item {
	it := item{kind: failed, job: j, cause: err}
	final, later, postponed := wishes(err)
	switch {
	case postponed != nil:
		it.again, it.wait = true, max(0, postponed.In)
		return it
	case final:
		it.last = true
	case later != nil:
		it.wait = max(0, later.In)
	default:
		it.wait = cfg.Backoff(int(j.attempt))
	}
	it.last, it.text = it.last || cfg.isLast(j.attempt), errorText(err)
	return it
}

// wishes reports whether an error is a Final and, if it is a Later or a Postponed, returns that. An error whose Unwrap
// panics counts as none of them.
func wishes(err error) (final bool, later *Later, postponed *Postponed) {
	defer func() {
		if recover() != nil {
			final, later, postponed = false, nil, nil
		}
	}()
	if errors.As(err, &postponed) {
		return false, nil, postponed
	}
	if f := (*Final)(nil); errors.As(err, &f) {
		return true, nil, nil
	}
	errors.As(err, &later)
	return false, later, nil
}
