package partition

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// firing is what happens with timers that are due. It is guarded by Partition.mu.
type firing struct {
	attempts map[state.Ref]*attempt // under way
	outdone  map[string][]*attempt  // by key: those that have changed it themselves, whose handlers run still
	active   int                    // goroutines of attempts, and attempts that are about to begin
	idle     chan struct{}          // if not nil, closed when active is 0
	stopped  bool                   // nothing begins any more

	// After an unclean end, in the order of due: what was due at the takeover, and what was under
	// way then. The attempts of both are written before they begin, those of suspects one at a
	// time.
	careful  []job
	delayed  []job // whose attempts did not begin, as the lease had ended
	suspects map[state.Ref]frame.ID
	accused  []job // suspects that are due
	trial    bool  // one of them is under way

	aimed bool
	at    int64 // in elapsed time, if aimed
	woken int64 // what the last wake-up was aimed at. Invariant: it is not in the future
}

// job is a timer whose attempt is about to begin, or has ended.
type job struct {
	ref     state.Ref
	id      frame.ID
	key     []byte // after the attempt
	attempt uint32
	suspect bool
	due     state.Due
}

// ring is called by the alarm. On a mock clock it returns when all that is due has happened.
func (p *Partition) ring() {
	p.mu.Lock()
	p.wake()
	p.mu.Unlock()
	if by := p.cfg.Crew.jumped(p.time.skew()); by != 0 {
		p.cfg.Logger.Warn("durable: the wall clock was set", "by", time.Duration(by))
	}
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

// Resume begins what became due, and answers what was written, while Tenure was false. It must be called after Tenure has become true
// again, and costs nothing if nothing has asked for it meanwhile.
func (p *Partition) Resume() {
	if p.tenure.resume() {
		p.fireOrAim()
	}
}

// freePlace gives a place back that was taken for nothing. mu is held, so others are called later.
func (p *Partition) freePlace() { go p.cfg.Crew.give() }

// mayFire is false while the owner does not know what the log says.
func (p *Partition) mayFire() bool {
	return !p.firing.stopped && !p.doubt.Load() && p.tenure.holds()
}

// anyLeft tells whether there is a job that was due before.
func (f *firing) anyLeft() bool {
	return len(f.delayed) > 0 || len(f.careful) > 0 || len(f.accused) > 0 && !f.trial
}

// anyDue tells whether next has a job.
func (p *Partition) anyDue() bool {
	f := &p.firing
	if f.anyLeft() {
		return true
	}
	return p.state.AnyDue(p.time.now(), p.time.wall())
}

// next takes out the timer that is due first. Its ID is zero if there is none.
func (p *Partition) next() job {
	f := &p.firing
	switch {
	case len(f.delayed) > 0:
		j := f.delayed[0]
		f.delayed = f.delayed[1:]
		return j
	case len(f.careful) > 0:
		j := f.careful[0]
		f.careful = f.careful[1:]
		return j
	case len(f.accused) > 0 && !f.trial:
		j := f.accused[0]
		f.accused = f.accused[1:]
		return j
	}
	d, ok := p.state.Pop(p.time.now(), p.time.wall())
	if !ok {
		return job{}
	}
	t := p.state.Timer(d.Ref)
	j := job{ref: d.Ref, id: t.ID, attempt: t.Attempt + 1, due: d}
	if id, ok := f.suspects[d.Ref]; ok {
		delete(f.suspects, d.Ref)
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
	a := &attempt{job: j, name: rand.Uint64() | 1, firing: Firing{t.Key, t.Value, t.Due, j.attempt, t.ID, p.epoch}}
	a.key = []byte(t.Key)
	a.ctx, a.cancel = context.WithCancel(context.WithValue(p.handlers, attemptKey{}, a))
	p.firing.attempts[j.ref] = a
	return a
}
