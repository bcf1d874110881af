package cores

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

func (o *worker) String() string { return fmt.Sprint("worker ", o.n) }

// fate is what becomes of an append.
type fate int

func (f fate) String() string {
	return [...]string{"done", "dropped", "done without an answer", "later", "twice", "refused"}[f]
}

func fateOf(r *rand.Rand) fate {
	if r.IntN(3) > 0 {
		return done
	}
	return fate(r.IntN(int(fates)))
}

// lose ends the owner, which writes nothing more. What is late may still arrive.
func (o *worker) lose() {
	o.faults++
	o.core, o.queue, o.flight, o.attempts, o.busy, o.started, o.ending = nil, nil, nil, nil, nil, nil, false
}

// clockIsSet sets the wall clock.
func (o *worker) clockIsSet(r *rand.Rand) {
	o.off = time.Duration(r.Int64N(int64(maxSkew))) - maxSkew/2
	o.most = max(o.most, o.off)
	o.Add("the wall clock of %v is set to %v", o, o.off)
}

// leaseChanges lets the lease end, or return if nobody else has taken over.
func (o *worker) leaseChanges(r *rand.Rand) {
	if o.lapsed = !o.lapsed; !o.lapsed && o.core.Epoch != o.model.epoch {
		o.lapsed = true
		return
	}
	o.Add("%v holds its lease: %v", o, !o.lapsed)
	if !o.lapsed {
		o.fire()
	}
}

// trim reads what trimming writes again, or deletes what it has.
func (o *worker) trim(r *rand.Rand) {
	if r.IntN(2) == 0 {
		at, loose := o.core.Begins()
		if n := at - 1 - o.log.first; at > o.log.first+1 && o.core.Epoch == o.model.epoch {
			o.Add("%v deletes %d frames", o, n)
			o.log.all, o.log.first = o.log.all[n:], at-1
			o.core.Deleted(loose)
		}
		return
	}
	p, end := o.core.StartTrimming()
	if p == nil {
		return
	}
	for ; p.Begin < end && !p.IsFull(); p.Begin++ {
		f, err := frame.Parse(o.log.get(p.Begin))
		if err != nil { // another owner has deleted it
			o.core.GiveUp()
			return
		}
		if err := o.core.FindLive(&f, p); err != nil {
			o.fail("trimming: %v", err)
		}
	}
	o.core.Give(p)
	o.Add("%v will write again what is live before frame %d", o, p.Begin)
}

// close ends the owner in order, once no attempt is in progress.
func (o *worker) close() {
	if !o.busyWithout() && o.flight == nil && !o.ending {
		o.Add("%v closes", o)
		o.ending = true
		o.leave()
		o.queue = append(o.queue, item{close: true})
	}
}

// kill ends the process. What is late may still arrive.
func (o *worker) kill() {
	o.Add("%v is killed", o)
	for _, a := range o.attempts {
		o.model.killed(a)
	}
	o.lose()
}
