package cores

import (
	"bytes"
	"fmt"
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
	wrong   error // the first promise that did not hold

	asked, faults int // how many operations and faults there were
}

// log is the log, with what arrives late.
type log struct {
	first   uint64 // the number before that of the first message
	all     [][]byte
	late    []late
	batches map[string]*batch // by the bytes of a frame
}

// late is an append that arrives after some steps.
type late struct {
	steps int
	last  uint64
	data  []byte
}

func (l *log) end() uint64 { return l.first + uint64(len(l.all)) }

// get returns a message, or nil.
func (l *log) get(number uint64) []byte {
	if number <= l.first || number > l.end() {
		return nil
	}
	return l.all[number-l.first-1]
}

// append appends a message if the log ends at last. It reports whether it did.
func (w *world) append(last uint64, data []byte) bool {
	if last != w.log.end() {
		return false
	}
	w.log.all = append(w.log.all, bytes.Clone(data))
	w.model.apply(w.log.batches[string(data)], last+1)
	return true
}

// arrive lets late appends arrive.
func (w *world) arrive() {
	waiting := w.log.late[:0]
	for _, a := range w.log.late {
		if a.steps--; a.steps > 0 {
			waiting = append(waiting, a)
		} else if w.append(a.last, a.data) {
			w.Add("a late append arrives as frame %d", a.last+1)
		}
	}
	w.log.late = waiting
}

func newWorld(h steps.History, trace *steps.Trace) *world {
	w := &world{Trace: trace, now: begin, log: log{batches: make(map[string]*batch)}}
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
		o.takeOver(r)
		return
	}
	switch r.IntN(25) {
	case 0, 1:
		w.pass(r)
	case 2, 3, 4, 5, 6:
		w.callers[r.IntN(len(w.callers))].request(o, r)
	case 7, 8:
		w.callers[r.IntN(len(w.callers))].copy(o, r)
	case 9, 10, 11, 12, 13:
		o.write(fateOf(r), r)
	case 14, 15:
		o.fire()
	case 16, 17:
		o.callHandlers()
	case 18:
		o.giveToken(time.Duration(r.Int64N(int64(time.Minute))))
	case 19, 24:
		o.handlerReturns(r)
	case 20:
		o.clockIsSet(r)
	case 21:
		o.leaseChanges(r)
	case 22:
		o.trim(r)
	case 23:
		w.end(o, r)
	}
}

// tally returns what a history has had.
func (w *world) tally() steps.Tally {
	return steps.Tally{Histories: 1, Operations: w.asked, Faults: w.faults, Time: time.Duration(w.now - begin)}
}

// any returns a worker, more often the one that owns the log.
func (w *world) any(r *rand.Rand) *worker {
	if r.IntN(4) > 0 {
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
		o.close()
	} else if r.IntN(2) == 0 && o.core != nil {
		o.kill()
	}
}

// drain lets all that is pending come to its end without faults.
func (w *world) drain() {
	calm := rand.New(rand.NewPCG(0, 0))
	w.Add("calm")
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
	for range 1000 {
		o.write(done, calm)
		o.fire()
		o.callHandlers()
		o.allReturn()
		o.write(done, calm)
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

// forgets checks that an owner keeps nothing of timers, attempts and callers that are no more.
func (w *world) forgets(o *worker, calm *rand.Rand) {
	if w.wrong != nil {
		return
	}
	w.now += int64(2 * remember)
	key := []byte("k")
	w.callers[0].send(o, nil, []core.Op{{Kind: frame.Set, Key: key}, {Kind: frame.Remove, Key: key}})
	o.write(done, calm)
	if bytes, n := o.core.State.Bytes(), o.core.Numbers(); bytes != 0 || n != (core.Numbers{}) {
		w.fail("memory: %d bytes and %+v attempts are remembered of nothing", bytes, n)
	}
}
