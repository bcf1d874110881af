//go:build linux

package main

import (
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// remembered is how long owners remember a caller in this mode.
const remembered = 3 * time.Second

// silent makes callers pause for longer than owners remember them.
func silent() mode {
	return mode{name: "silent", says: "callers that are silent for longer than they are remembered",
		set: func(o *options, _ *rand.Rand) {
			o.Talks, o.Silence, o.Remember = 2*remembered, remembered+time.Second, remembered
		}}
}

// hush makes all callers of a worker wait while it is silent.
func (w *worker) hush() {
	now := time.Duration(mono())
	if !w.cfg.Far { // otherwise all are silent at the same time
		now += time.Duration(w.cfg.Number) * time.Second
	}
	if all := w.cfg.Talks + w.cfg.Silence; all > 0 && now%all > w.cfg.Talks {
		time.Sleep(all - now%all)
	}
}

const moreCallers = 2

// ownless adds processes without a handler: they call the workers, and own nothing. The same faults happen to them as
// to workers.
func ownless() mode {
	return mode{name: "callers", says: "two more workers, and two of all that own nothing", set: func(o *options, _ *rand.Rand) {
		o.callers, o.workers = moreCallers, o.workers+moreCallers
	}}
}

// ownsNothing reports whether the next worker is to be a caller. mu is held.
func (w *world) ownsNothing(v visitor) bool {
	living := 0
	for _, m := range w.workers {
		if m.calls {
			living++
		}
	}
	return v == visitor{} && !w.alone && living < w.callers
}

// giveUp makes callers give calls up, and repeat them with another value. A call that they gave up must be committed
// before the repetition, or never.
func giveUp() mode {
	return mode{name: "giveup", says: "callers that give calls up, and do them again with another value", calm: true,
		set: func(o *options, _ *rand.Rand) { o.GiveUp, o.Slower = true, 4 }}
}

// givingUp is the number of additional callers: several calls share a message only if there are many callers.
const (
	givingUp     = 20
	triesGivenUp = 20 // of one call
)

// shortPatience returns the limit of a call that is given up if it takes longer than most do.
func shortPatience(r *rand.Rand) time.Duration {
	return time.Duration(1+r.IntN(200)) * time.Millisecond
}

// clocks adds two workers whose clocks are off, one far ahead and one far behind. No timer may be early or late because
// of that.
func clocks() mode {
	off := time.Hour
	return mode{name: "clocks", says: "workers whose clocks are off by hours", calm: true,
		set: func(o *options, r *rand.Rand) {
			o.far()
			off = 30 * time.Minute << r.IntN(4)
		},
		during: func(w *world) (end func()) {
			ahead, behind := w.visits(visitor{off: off}), w.visits(visitor{off: -off})
			return func() { ahead.gone(); behind.gone() }
		}}
}

// jumps sets workers' clocks by up to an hour. While its clock is off, a worker takes no partition over.
func jumps() mode {
	return mode{name: "jumps", says: "workers' clocks set by up to an hour", byName: true,
		set: func(o *options, _ *rand.Rand) { o.farJumps = true }}
}

// leases draws the lease.
func leases() mode {
	return mode{name: "leases", says: "a lease of 0.5 to 4 s, as the seed draws it",
		set: func(o *options, r *rand.Rand) { o.lease = 500 * time.Millisecond << r.IntN(4) }}
}

// far makes timers that are due soon rare among those that are due in hours. So after each wake-up the alarm is aimed
// far ahead, unless it is aimed again for a timer that is due soon. Operations wake an owner, too, so at times there
// are no calls.
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

const manyWorkers, manyPartitions = 20, 64

// crowd makes many workers share many partitions. Each calls less often, so that the total load is the same.
func crowd() mode {
	return mode{name: "crowd", says: "20 workers and 64 partitions", byName: true, set: func(o *options, _ *rand.Rand) {
		o.keys *= 4
		o.Slower = manyWorkers / max(1, o.workers)
		o.workers, o.partitions = manyWorkers, manyPartitions
	}}
}

// alone runs one worker with a directory of its own, to which nothing happens: a day's load in less time. The longer
// the run is, the less load there is at once.
func alone() mode {
	return mode{name: "alone", says: "load on one worker with a directory, and no faults; nothing is late by a second", byName: true,
		set: func(o *options, _ *rand.Rand) {
			o.far()
			o.alone, o.Silence = true, 2*time.Second
			o.servers, o.workers = 0, 1
			o.Slower = 1 + int(o.length/(10*time.Minute))
		}}
}
