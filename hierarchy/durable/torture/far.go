//go:build linux

package main

import (
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// far has what is due soon be rare among what is due in hours. So each wake-up is followed by one that is
// far away, unless it is aimed anew. An operation wakes an owner, too, so at times nobody calls for one.
func far() mode {
	return mode{name: "far", says: "few near timers among far ones", calm: true, set: func(o *options, _ *rand.Rand) { o.far() }}
}

func (o *options) far() {
	o.Far, o.FarFrom = true, 2*o.length+10*time.Minute
	o.Talks, o.Silence = 6*time.Second, 6*time.Second
}

const (
	farCallers = 4
	nearTimer  = 5 * time.Millisecond
	pauseFar   = 5 * time.Millisecond
)

// callFar sets one near timer after the other, and far ones as the near ones fire.
func (w *worker) callFar(caller int, r *rand.Rand) {
	near := operation{op: judge.OpSet, key: judge.FiringKeys + w.unique(), value: w.unique(), in: about(r, nearTimer), limit: longestPatient}
	_, result := w.call(caller, near)
	time.Sleep(near.in - about(r, time.Millisecond)) // both at once
	later := operation{op: judge.OpSet, key: judge.FarKeys + near.key, value: near.value, in: w.cfg.FarFrom << r.IntN(9), limit: longestPatient}
	if r.IntN(4) == 0 {
		later.op = judge.OpRemove
	}
	w.call(caller, later)
	w.rest(r, result, pauseFar)
}
