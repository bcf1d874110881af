package cores

import (
	"fmt"
	"math/rand/v2"
	"time"
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
	o.core, o.queue, o.flight, o.attempts, o.busy, o.started = nil, nil, nil, nil, nil, nil
	o.ending, o.closing, o.shot, o.follower = false, false, nil, nil
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

// kill ends the process. What is late may still arrive.
func (o *worker) kill() {
	o.Add("%v is killed", o)
	for _, a := range o.attempts {
		o.model.killed(a)
	}
	o.lose()
}
