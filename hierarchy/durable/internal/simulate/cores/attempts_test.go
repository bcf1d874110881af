package cores

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// wallCheck is how long an alarm may wait while there are timers with wall times.
const wallCheck = 10 * time.Second

// fire begins the attempts that are due.
func (o *worker) fire() {
	if o.lapsed || o.ending {
		return
	}
	for e, ok := o.core.Expire(o.time()); ok; e, ok = o.core.Expire(o.time()) {
		o.expiring[e.Job.ID] = true
		o.put(e, &result{key: string(e.Job.Key), id: e.Job.ID, kind: expired})
	}
	for n := 0; o.core.AnyDue(o.time(), o.wall()); n++ {
		if n == 1000 {
			o.fail("agenda: something is always due")
			return
		}
		j := o.core.Next(o.time(), o.wall())
		if write, ok := o.core.Begin(&j, false); !ok {
			continue
		} else if o.busy[j.ID] = true; write {
			o.put(core.Begun(j), &result{key: string(j.Key), id: j.ID, kind: begun, number: j.Number, job: &j})
		} else {
			o.start(j)
		}
	}
	at, ok := o.core.Nearest(o.time(), o.wall(), wallCheck)
	if ok && at <= o.time() {
		o.fail("agenda: the alarm rings at once, and nothing is due")
	} else if !ok {
		at = math.MaxInt64
	}
	if o.looked = o.time(); o.flight == nil {
		o.model.elapsed(o)
		o.model.overdue(o, at)
	}
}

// goOnMeanwhile begins what falls due while a frame is in flight, now and then.
func (o *worker) goOnMeanwhile(r *rand.Rand) {
	if o.core != nil && o.flight != nil && r.IntN(3) == 0 {
		o.pass(r)
		o.fire()
		o.callHandlers()
	}
}

// put puts an event into the queue.
func (o *worker) put(e core.Event, what *result) {
	o.queue = append(o.queue, item{event: e, what: what})
}

// start begins an attempt. Its handler is called later.
func (o *worker) start(j core.Job) {
	if o.flight == nil {
		o.model.beginsPaused(o, &j)
	}
	if suspect := func(a *core.Attempt) bool { return a.Suspect }; j.Suspect && slices.ContainsFunc(o.attempts, suspect) {
		o.fail("alone: %s is a suspect, and begins beside another one", j.Key)
	}
	o.model.names++
	a := &core.Attempt{Job: j, Name: o.model.names}
	o.core.Started(a)
	o.started[j.ID] = a
	o.attempts = append(o.attempts, a)
	o.Add("%v begins attempt %d of %s", o, a.Number, a.Key)
}

// callHandlers calls the handlers of attempts that have begun, if that is still right.
func (o *worker) callHandlers() {
	for _, a := range slices.Clone(o.attempts) {
		switch {
		case a.Called:
		case o.core.IsClaimed(a.ID):
			if o.flight == nil && len(o.queue) == 0 { // otherwise the next frame may be made instead of one that was too large
				o.fail("claims: %s waits for a frame, and none is on its way", a.Key)
			}
		case !o.core.IsRunning(a):
			o.core.Stop(a)
			o.over(a)
		case o.lapsed:
			o.core.Stop(a)
			o.core.Delay(a.Job)
			o.over(a)
		case a.Invalid != nil: // the attempt before it was left, and not ended
			a.Called = true
			o.returns(a, a.Invalid)
		default:
			a.Called = true
			if o.flight != nil {
				o.meanwhile = a
			}
			o.Add("%v calls the handler of %s", o, a.Key)
			o.model.fires(o, a)
		}
	}
}

// over forgets an attempt. If it was ended by its token, or never began as that of another owner was, its timer may have
// another one by now, and if it was left, it goes on.
func (o *worker) over(a *core.Attempt) {
	o.attempts = slices.DeleteFunc(o.attempts, func(b *core.Attempt) bool { return a == b })
	if !a.Ended && !a.Left && o.started[a.ID] == a {
		o.free(a.ID)
	}
}

// free records that a timer has no attempt.
func (o *worker) free(id frame.ID) {
	delete(o.busy, id)
	delete(o.started, id)
}

var errHandler = errors.New("the handler fails")

// handlerReturns lets a handler return, in one of several ways.
func (o *worker) handlerReturns(r *rand.Rand) {
	i := slices.IndexFunc(o.attempts, func(a *core.Attempt) bool { return a.Called })
	if i < 0 {
		return
	}
	o.returns(o.attempts[i], someResult(r))
}

// someResult returns one of the results that an attempt can have.
func someResult(r *rand.Rand) error {
	wait := time.Duration(r.Int64N(int64(time.Minute)))
	return []error{nil, nil, errHandler, &core.Final{Err: errHandler}, &core.Later{Err: errHandler, In: wait},
		&core.Postponed{Err: errHandler, In: wait}}[r.IntN(6)]
}

// allReturn lets all handlers return without an error.
func (o *worker) allReturn() {
	for _, a := range slices.Clone(o.attempts) {
		o.returns(a, nil)
	}
}

func (o *worker) returns(a *core.Attempt, err error) {
	if !o.core.Returned(a) {
		if a.Left || a.Ended {
			o.over(a)
			return
		}
		o.fail("attempt: the handler of %s has returned before", a.Key)
		return
	}
	o.Add("the handler of %s returns %v", a.Key, err)
	o.attempts = slices.DeleteFunc(o.attempts, func(b *core.Attempt) bool { return a == b })
	if !o.core.Stop(a) { // it was superseded
		o.free(a.ID)
		return
	}
	o.put(a.Result(&coreConfig, err), resultOf(a, err))
}

// resultOf returns what the result of an attempt means.
func resultOf(a *core.Attempt, err error) *result {
	e := &result{key: string(a.Key), id: a.ID, number: a.Number, kind: failed, wait: backoff, attempt: a}
	if err != nil {
		e.text = err.Error()
	}
	switch err := err.(type) {
	case nil:
		e.kind = succeeded
	case *core.Final:
		e.kind = died
	case *core.Later:
		e.wait = err.In
	case *core.Postponed:
		e.wait, e.again = err.In, true
	}
	if e.kind == failed && !e.again && int(a.Number) >= coreConfig.MaxAttempts {
		e.kind = died
	}
	return e
}

// written continues with an event that is in the log, or was left out.
func (o *worker) written(it item) {
	e := it.what
	if e.took != e.expected {
		o.fail("event: %v of %s is written: %v, and should be: %v", e.kind, e.key, e.took, e.expected)
	}
	o.core.Remove(it.event.Of)
	switch {
	case e.kind == expired:
		delete(o.expiring, e.id)
	case e.kind != begun: // after an end by a token, the timer may have another attempt by now
		if o.started[e.id] == e.attempt {
			o.free(e.id)
		}
	case e.took && !o.ending && o.core.Written(e.job):
		o.start(*e.job)
	default:
		o.core.Over(e.job)
		if !o.isBeginning(e.id) { // a timer that was paused and resumed may be due twice
			o.free(e.id)
		}
	}
}

// isBeginning reports whether an attempt of a timer has begun, or waits for its begin to be written.
func (o *worker) isBeginning(id frame.ID) bool {
	return o.started[id] != nil || slices.ContainsFunc(o.queue, func(it item) bool {
		return it.what != nil && it.what.kind == begun && it.what.id == id
	})
}
