package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// firing is what happens with timers that are due. It is guarded by Partition.mu.
type firing struct {
	attempts map[state.Ref]*attempt // under way
	active   int                    // goroutines of attempts, and attempts that are about to begin
	idle     chan struct{}          // if not nil, closed when active is 0
	stopped  bool                   // nothing begins any more

	// After an unclean end, in the order of due: what was due at the takeover, and what was under
	// way then. The attempts of both are written before they begin, those of suspects one at a
	// time.
	careful  []job
	suspects map[state.Ref]frame.ID
	accused  []job // suspects that are due
	trial    bool  // one of them is under way

	aimed bool
	at    int64 // in elapsed time, if aimed
	woken int64 // what the last wake-up was aimed at
}

// job is a timer whose attempt is about to begin, or has ended.
type job struct {
	ref     state.Ref
	id      frame.ID
	key     []byte // after the attempt
	attempt uint32
	suspect bool
}

// attempt is one call of the handler.
type attempt struct {
	job
	firing Firing
	ctx    context.Context
	cancel context.CancelFunc
}

// wallCheck is how soon a jump of the wall clock is noticed while timers wait for wall times.
const wallCheck = 10 * time.Second

// ring is called by the alarm. On a mock clock it returns when all that is due has happened.
func (p *Partition) ring() {
	p.mu.Lock()
	p.firing.aimed, p.firing.woken = false, p.firing.at
	p.mu.Unlock()
	if p.virtual {
		p.fireInline()
		return
	}
	p.fireOrAim()
}

// fireOrAim begins the attempts that are due, as far as there are places, and aims the alarm at
// the next one. On a mock clock it only aims.
func (p *Partition) fireOrAim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.virtual && p.mayFire() && p.anyDue() {
		if !p.cfg.Crew.take(p) {
			return // the Crew calls again
		}
		if !p.begin(p.next()) {
			p.freePlace()
		}
	}
	p.aim()
}

// freePlace gives a place back that was taken for nothing. mu is held, so others are called later.
func (p *Partition) freePlace() { go p.cfg.Crew.give() }

// mayFire is false while the owner does not know what the log says.
func (p *Partition) mayFire() bool {
	return !p.firing.stopped && !p.doubt.Load() && p.cfg.Tenure()
}

// anyDue tells whether next has a job.
func (p *Partition) anyDue() bool {
	f := &p.firing
	if len(f.careful) > 0 || len(f.accused) > 0 && !f.trial {
		return true
	}
	return p.state.AnyDue(p.time.now(), p.time.wall())
}

// next takes out the timer that is due first. Its ID is zero if there is none.
func (p *Partition) next() job {
	f := &p.firing
	switch {
	case len(f.careful) > 0:
		j := f.careful[0]
		f.careful = f.careful[1:]
		return j
	case len(f.accused) > 0 && !f.trial:
		j := f.accused[0]
		f.accused = f.accused[1:]
		return j
	}
	ref, ok := p.state.Pop(p.time.now(), p.time.wall())
	if !ok {
		return job{}
	}
	t := p.state.Timer(ref)
	j := job{ref: ref, id: t.ID, attempt: t.Attempt + 1}
	if id, ok := f.suspects[ref]; ok {
		delete(f.suspects, ref)
		if j.suspect = id == t.ID; j.suspect && f.trial {
			f.accused = append(f.accused, j)
			return job{}
		}
	}
	return j
}

// begin begins an attempt, or has the writer note first that it does. It is false if the timer is
// another one by now.
func (p *Partition) begin(j job) bool {
	if j.id == (frame.ID{}) || !p.state.Held(j.ref, j.id) {
		return false
	}
	p.firing.active++
	if j.attempt&mustBeWritten != 0 || j.suspect {
		j.attempt &^= mustBeWritten
		p.firing.trial = p.firing.trial || j.suspect
		j.key = []byte(p.state.Timer(j.ref).Key)
		_ = p.queue.put(item{kind: begun, job: j})
		return true
	}
	go p.run(p.started(j))
	return true
}

// mustBeWritten marks, in job.attempt, an attempt that is written before it begins.
const mustBeWritten = 1 << 31

// started is the attempt of a timer that is held.
func (p *Partition) started(j job) *attempt {
	t := p.state.Timer(j.ref)
	p.state.Start(j.ref, j.id)
	a := &attempt{job: j, firing: Firing{t.Key, t.Value, t.Due, j.attempt, t.ID, p.epoch}}
	a.key = []byte(t.Key)
	a.ctx, a.cancel = context.WithCancel(p.handlers)
	p.firing.attempts[j.ref] = a
	return a
}

// errGone is the result of an attempt that did not begin, because it was superseded.
var errGone = errors.New("the timer has changed")

// run calls the handler, and gives the result to the writer.
func (p *Partition) run(a *attempt) {
	err := errExit // in case the handler exits its goroutine
	defer func() { p.attemptEnded(a, err, nil) }()
	err = p.handle(a)
}

// handle calls the handler, if the timer is still the same and this process the owner.
func (p *Partition) handle(a *attempt) (err error) {
	p.mu.Lock()
	same := p.firing.attempts[a.ref] == a && !p.firing.stopped && p.cfg.Tenure()
	if same {
		p.counts.Fired++
	}
	p.mu.Unlock()
	if !same {
		return errGone
	}
	defer a.cancel()
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			p.cfg.Logger.Error("durable: a handler panicked", "err", err, "stack", string(debug.Stack()))
		}
	}()
	err = p.cfg.Handle(a.ctx, a.firing)
	returned = true
	return err
}

var errExit = errors.New("the handler has exited its goroutine")

// attemptEnded gives the place back and the result to the writer. If done is not nil, it gets
// whether the result is in the log.
func (p *Partition) attemptEnded(a *attempt, err error, done chan bool) {
	it := item{kind: ended, job: a.job, done: done}
	if err != nil && !errors.Is(err, errGone) {
		it.kind, it.wait = failed, p.cfg.Backoff(int(a.attempt))
	}
	p.mu.Lock()
	same := p.firing.attempts[a.ref] == a
	if same {
		delete(p.firing.attempts, a.ref)
	}
	if a.suspect {
		p.firing.trial = false
	}
	p.mu.Unlock()
	if same && !errors.Is(err, errGone) {
		if err != nil {
			p.cfg.Logger.Debug("durable: an attempt failed", "attempt", a.attempt, "err", err)
		}
		_ = p.queue.put(it)
	} else {
		it.drop()
	}
	p.mu.Lock()
	p.inactive()
	p.mu.Unlock()
	if !p.virtual {
		p.cfg.Crew.give()
		if a.suspect {
			p.fireOrAim()
		}
	}
}

// inactive is called when an attempt has ended, and its result is in the queue. mu is held.
func (p *Partition) inactive() {
	f := &p.firing
	if f.active--; f.active == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// attemptWritten goes on with an attempt after its item was written, or turned out to be of a
// timer that has changed. mu is held.
func (p *Partition) attemptWritten(t *taken) {
	j := t.job
	switch {
	case t.kind == barrier:
		t.pass()
		return
	case t.kind != begun:
	case t.done != nil: // fireInline goes on itself
	case t.took && p.state.Held(j.ref, j.id) && !p.firing.stopped:
		go p.run(p.started(j))
	default:
		if j.suspect {
			p.firing.trial = false
		}
		p.inactive()
		p.freePlace()
	}
	if t.done != nil {
		t.done <- t.took
	}
}

// aim aims the alarm at the next timer. Between two wake-ups is at least Precision. mu is held.
func (p *Partition) aim() {
	f := &p.firing
	if p.alarm == nil || !p.mayFire() { // once it may, fireOrAim is called
		return
	}
	at, ok := p.nearest()
	if !ok {
		if f.aimed {
			f.aimed = false
			p.alarm.Stop()
		}
		return
	}
	if !p.virtual && f.woken != 0 {
		at = max(at, f.woken+int64(p.cfg.Precision))
	}
	if !f.aimed || at != f.at {
		f.aimed, f.at = true, at
		p.alarm.Set(time.Duration(at))
	}
}

// nearest is the elapsed time at which something is due next.
func (p *Partition) nearest() (at int64, ok bool) {
	f := &p.firing
	if len(f.careful) > 0 || len(f.accused) > 0 && !f.trial {
		return 0, true
	}
	at = math.MaxInt64
	if due, there := p.state.Next(false); there {
		at, ok = instant.Minus(due, p.time.shift), true
	}
	if due, there := p.state.Next(true); there {
		elapsed := int64(p.time.clock.Elapsed())
		left := max(0, instant.Minus(due, p.time.wall()))
		if !p.virtual {
			left = min(left, int64(wallCheck))
		}
		at, ok = min(at, instant.Plus(elapsed, left)), true
	}
	return at, ok
}

// stopHanding has no further attempt begin.
func (p *Partition) stopHanding() {
	p.mu.Lock()
	p.firing.stopped = true
	p.mu.Unlock()
}

// stopFiring has no further attempt begin, and waits for those under way until ctx is done. Then
// it ends their contexts.
func (p *Partition) stopFiring(ctx context.Context) error {
	defer p.cancel()
	p.mu.Lock()
	p.firing.stopped = true
	idle := make(chan struct{})
	switch {
	case p.firing.active == 0:
		close(idle)
	case p.firing.idle != nil:
		idle = p.firing.idle
	default:
		p.firing.idle = idle
	}
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
