package cores

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
)

// begin is the true time at which a history begins.
const begin = int64(1_800_000_000 * time.Second)

// maxSkew is how far an owner's time may begin ahead of its wall clock, and how far two wall clocks differ at most.
const maxSkew = 5 * time.Second

// world is a log, the workers that own it one after the other, and those that call them.
type world struct {
	*steps.Trace
	now     int64 // true time
	log     log
	workers []*worker
	callers []*caller
	model   *model
	tokens  []token
	cursor  cursor
	message int   // how large a message may be
	lowered bool  // the limit has been lower than before
	wrong   error // the first promise that did not hold

	asked, faults int // how many operations and faults there were
}

func newWorld(h steps.History, trace *steps.Trace, l core.Limits) *world {
	w := &world{Trace: trace, now: begin, message: l.Message, log: log{batches: make(map[string]*batch)}}
	w.log.most = l.Log
	w.model = newModel(w)
	for n := range h.Workers {
		w.workers = append(w.workers, newWorker(w, n))
	}
	for n := range 3 {
		w.callers = append(w.callers, newCaller(w, uint64(n+1)))
	}
	return w
}

// fail records a promise that did not hold.
func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
		w.Add("WRONG: %v", w.wrong)
	}
}

// run carries the steps of a history out.
func (w *world) run(h steps.History) error {
	for _, s := range h.Steps {
		if w.step(steps.Rand(s)); w.wrong != nil {
			return w.wrong
		}
	}
	w.drain()
	return w.wrong
}

func (w *world) step(r *rand.Rand) {
	w.arrive()
	o := w.any(r)
	if o.core == nil {
		if r.IntN(4) == 0 {
			o.follow()
		} else {
			o.takeOver(r)
		}
		return
	}
	o.readShot(1)
	switch r.IntN(25) {
	case 0, 1:
		w.pass(r)
	case 2, 3, 4, 5, 6:
		w.callers[r.IntN(len(w.callers))].request(o, r)
	case 7, 8:
		w.callers[r.IntN(len(w.callers))].copy(o, r)
	case 9, 10, 11, 12, 13:
		o.write(fateOf(r), r)
		o.goOnMeanwhile(r)
	case 14, 15:
		o.fire()
	case 16, 17:
		o.callHandlers()
	case 18:
		o.giveToken(r)
	case 19, 24:
		o.handlerReturns(r)
	case 20:
		o.clockIsSet(r)
		w.limitChanges(r)
	case 21:
		o.leaseChanges(r)
	case 22:
		o.trim(r)
	case 23:
		if !w.isSteady(r) {
			w.end(o, r)
		}
	}
}

// tally returns what a history has had.
func (w *world) tally() steps.Tally {
	return steps.Tally{Histories: 1, Operations: w.asked, Faults: w.faults, Time: time.Duration(w.now - begin)}
}

// any returns a worker, more often the one that owns the log.
func (w *world) any(r *rand.Rand) *worker {
	if r.IntN(4) > 0 || w.isSteady(r) {
		for _, o := range w.workers {
			if o.core != nil && !o.lapsed {
				return o
			}
		}
	}
	return w.workers[r.IntN(len(w.workers))]
}

// pass lets time pass: little, until something is due, or so much that callers are forgotten.
func (w *world) pass(r *rand.Rand) {
	d := time.Duration(r.Int64N(int64(5 * time.Second)))
	if r.IntN(20) == 0 {
		d = time.Duration(r.Int64N(int64(20 * time.Minute)))
	}
	w.now += int64(d)
	w.Add("%v pass", d)
}

// end ends a process, in one of two ways.
func (w *world) end(o *worker, r *rand.Rand) {
	if r.IntN(3) == 0 {
		o.close(r)
	} else if r.IntN(2) == 0 && o.core != nil {
		o.kill()
	}
}

// drain lets all that is pending come to its end without faults.
func (w *world) drain() {
	calm := rand.New(rand.NewPCG(0, 0))
	w.Add("calm")
	w.message = plenty
	w.makeRoom()
	for len(w.log.late) > 0 {
		w.arrive()
	}
	for _, o := range w.workers { // what is in doubt is settled
		if o.core != nil && o.flight != nil {
			o.write(done, calm)
		}
		o.lose()
	}
	o := w.workers[0]
	for o.core == nil && w.wrong == nil {
		o.takeOver(calm)
	}
	w.resumeAll(o)
	for n := 0; n < 1000 && w.wrong == nil; n++ {
		o.write(done, calm)
		o.fire()
		o.callHandlers()
		o.allReturn()
		o.write(done, calm)
		o.trim(calm)
		if w.wrong != nil {
			return
		}
		if at, ok := o.core.Nearest(o.time(), o.wall(), time.Hour); ok {
			w.now += max(1, state.Sub(at, o.time()))
		} else if len(o.attempts)+len(o.queue) == 0 {
			break
		}
	}
	if n := len(w.model.timers); n > 0 {
		w.fail("lost: %d timers have not come to an end: %v", n, w.model)
	}
	w.forgets(o, calm)
}

// forgets checks that an owner keeps nothing of timers, attempts and callers that are no more. The last caller requests
// something once more when the others are forgotten, so that it is forgotten later.
func (w *world) forgets(o *worker, calm *rand.Rand) {
	if w.wrong != nil {
		return
	}
	o.readShot(math.MaxInt)
	c, ops := w.callers[0], []core.Op{{Kind: frame.Set, Key: []byte("k")}, {Kind: frame.Remove, Key: []byte("k")}}
	for i, after := range []time.Duration{2 * remember, remember / 2, remember / 2, remember/2 + time.Second} {
		var q *request
		if i < 2 {
			q = &request{ops: ops}
			c.number(q)
		}
		w.now += int64(after) + 1
		c.send(o, q, ops)
		o.write(done, calm)
	}
	if bytes, n := o.core.State.Bytes(), o.core.Numbers(); bytes != 0 || n != (core.Numbers{}) {
		w.fail("memory: %d bytes and %+v attempts are remembered of nothing", bytes, n)
	}
	o.trimAll(calm)
}
