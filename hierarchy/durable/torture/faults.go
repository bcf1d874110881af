//go:build linux

package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// The faults, in addition to those of package judge.
const (
	joinWorker  = "worker joins"
	cutWorker   = "worker cut off"
	cutLink     = "worker cut off from a server"
	cutServer   = "server cut off from others"
	slowNetwork = "slow network"
	flicker     = "worker's connections break again and again"
)

var ofServers = []string{judge.KillServer, judge.StopServer, cutServer, judge.KillMajority, slowNetwork}

// plan is a fault to come. The process to which it happens is drawn, too, as a number among those that are running
// then.
type plan struct {
	fault string
	at    time.Duration // counted from the first fault
	long  time.Duration
	whom  int
	fate  int // of links
	delay time.Duration
	jump  time.Duration // of a clock
}

// often is how often a fault is drawn, as a weight.
type often struct {
	fault  string
	weight int
}

// weights returns the faults that a run can have, with their weights: those whose names contain one of the
// comma-separated words of o.only, and for which there are enough servers.
func (o *options) weights(on []mode) []often {
	if o.alone || o.only == none {
		return nil
	}
	all := []often{
		{judge.KillWorker, 14}, {judge.TermWorker, 12}, {judge.StopWorker, 16}, {joinWorker, 5}, {cutWorker, 10}, {cutLink, 5}, {flicker, 14},
		{judge.SetClock, 16},
		{judge.KillServer, 9}, {judge.StopServer, 6}, {cutServer, 9}, {judge.KillMajority, 4}, {slowNetwork, 5},
	}
	if slices.ContainsFunc(on, func(m mode) bool { return m.calm }) {
		all = slices.DeleteFunc(all, func(f often) bool { return slices.Contains(ofServers, f.fault) })
	}
	for _, m := range on {
		all = append(all, m.faults...)
	}
	return slices.DeleteFunc(all, func(f often) bool {
		alone := o.servers == 1 && slices.Contains([]string{cutServer, judge.KillMajority, cutRoute, oneWayServers}, f.fault)
		named := slices.ContainsFunc(strings.Split(o.only, ","), func(word string) bool { return strings.Contains(f.fault, word) })
		return alone || !named
	})
}

// draw draws the faults of a run.
func draw(o *options) (all []plan) {
	r := rand.New(rand.NewPCG(o.seed, 0))
	weights := o.weights(o.on())
	for at := time.Duration(0); at < o.length && len(weights) > 0; {
		p := plan{fault: drawFault(r, weights), at: at, whom: r.IntN(1 << 20)}
		p.long = o.lease/10 + time.Duration(r.Int64N(int64(3*o.lease)))
		p.fate = []int{holds, cuts}[r.IntN(2)]
		p.delay = time.Duration(1+r.IntN(30)) * time.Millisecond
		rest := time.Duration(r.IntN(1500)) * time.Millisecond
		quiet := r.IntN(3) == 0
		if p.jump = drawJump(r); !o.farJumps {
			p.jump = jumpOf(o.seed)
		}
		if p.fault == slowNetwork {
			p.fate = delays
		}
		p.long = min(p.long, o.length-at)
		all = append(all, p)
		if at += rest; quiet { // until the fault is over, and servers have leaders again
			at += p.long + 2*o.lease
		}
	}
	return all
}

// setsClocks reports whether clocks are set by hours in a run.
func setsClocks(o *options) bool {
	return o.farJumps && slices.ContainsFunc(draw(o), func(p plan) bool { return p.fault == judge.SetClock })
}

func drawFault(r *rand.Rand, all []often) string {
	sum := 0
	for _, w := range all {
		sum += w.weight
	}
	n := r.IntN(sum)
	for _, w := range all {
		if n -= w.weight; n < 0 {
			return w.fault
		}
	}
	panic("torture: no fault drawn")
}
