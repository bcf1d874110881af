//go:build linux

package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// The faults, in addition to judge.StopWorker. Each is one that only real processes, connections and servers show:
// slow logs and networks, logs and tables that do not answer, and wrong clocks are simulated by internal/simulate.
const (
	killWorker   = "worker killed"
	termWorker   = "worker shut down"
	joinWorker   = "worker joins"
	cutWorker    = "worker cut off"
	cutLink      = "worker cut off from a server"
	flicker      = "worker's connections break again and again"
	killServer   = "server killed"
	stopServer   = "server stopped"
	cutServer    = "server cut off from others"
	cutRoute     = "two servers cut off from each other"
	killMajority = "majority killed"
	killAll      = "all servers killed"
)

// plan is a fault to come. The process to which it happens is drawn, too, as a number among those that are running
// then.
type plan struct {
	fault string
	at    time.Duration // counted from the first fault
	long  time.Duration
	whom  int
	fate  int  // of links
	first bool // a worker comes before the one that it replaces leaves
	pause time.Duration
}

// often is how often a fault is drawn, as a weight.
type often struct {
	fault  string
	weight int
}

// weights returns the faults that a run can have, with their weights: those whose names contain one of the
// comma-separated words of o.only, and for which there are enough servers.
func (o *options) weights() []often {
	all := []often{
		{killWorker, 14}, {termWorker, 12}, {judge.StopWorker, 16}, {joinWorker, 5}, {cutWorker, 12}, {cutLink, 8}, {flicker, 14},
		{killServer, 9}, {stopServer, 8}, {cutServer, 9}, {cutRoute, 9}, {killMajority, 4}, {killAll, 3},
	}
	return slices.DeleteFunc(all, func(f often) bool {
		alone := o.servers == 1 && slices.Contains([]string{cutServer, cutRoute, killMajority}, f.fault)
		named := slices.ContainsFunc(strings.Split(o.only, ","), func(word string) bool { return strings.Contains(f.fault, word) })
		return alone || !named
	})
}

// draw draws the faults of a run.
func draw(o *options) (all []plan) {
	r := rand.New(rand.NewPCG(o.seed, 0))
	weights := o.weights()
	for at := time.Duration(0); at < o.length && len(weights) > 0; {
		p := plan{fault: drawFault(r, weights), at: at, whom: r.IntN(1 << 20)}
		p.long = o.lease/10 + time.Duration(r.Int64N(int64(3*o.lease)))
		p.fate, p.first = 1+r.IntN(fates-1), r.IntN(2) == 0
		p.pause = time.Duration(100+r.IntN(150)) * time.Millisecond
		rest := time.Duration(r.IntN(1500)) * time.Millisecond
		quiet := r.IntN(3) == 0
		p.long = min(p.long, o.length-at)
		all = append(all, p)
		if at += rest; quiet { // until the fault is over, and servers have leaders again
			at += p.long + 2*o.lease
		}
	}
	return all
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
