package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// benchmark names one benchmark: Benchmark<family>/impl=<impl>/n=<n>. An impl may
// have further parts, to=any or executor=Go.
type benchmark struct {
	family, impl string
	n            int
}

func (b benchmark) String() string {
	return fmt.Sprintf("%s/impl=%s/n=%d", b.family, b.impl, b.n)
}

// pattern is a -test.bench that matches nothing else.
func (b benchmark) pattern() string {
	parts := strings.Split("Benchmark"+b.String(), "/")
	for i, part := range parts {
		parts[i] = "^" + part + "$"
	}
	return strings.Join(parts, "/")
}

// job is a benchmark to be run, by package hierarchy's tests or by this one's.
type job struct {
	benchmark

	own  bool
	time string // as -test.benchtime has it
}

// plan says how much to measure.
type plan struct {
	rounds  int
	time    string // per benchmark of calls
	pending []int  // beside how many a timer is set and stopped
	crowd   int    // how many are due at one instant, and are weighed
	resets  int    // how many there are to be reset by two goroutines
	slow    bool   // also what takes seconds however few timers there are
	peers   []int  // beside how many all contenders are measured, the crowd among them
}

var (
	fullPlan = plan{
		rounds: 3, time: "200ms",
		pending: []int{1, 1000, 10_000, 100_000, 1_000_000, 10_000_000},
		crowd:   1_000_000, resets: 10_000_000, slow: true,
	}
	quickPlan = plan{
		rounds: 1, time: "50ms",
		pending: []int{1, 1000, 100_000},
		crowd:   100_000, resets: 1_000_000, slow: true,
	}
)

// How many pending all contenders are measured beside, if they are.
var (
	fullPeers  = []int{0, 1000, 100_000, 1_000_000, 10_000_000}
	quickPeers = []int{0, 1000, 100_000}
)

// once is a -test.benchtime.
const once = "1x"

// These have their number of timers in hierarchy's benchmarks.
const million = 1_000_000

// What is compared, by the names of benchmarks, in the order of pictures and
// tables.
var (
	costImpls    = []string{"time", "go-zero", "wheel", "keyed", "compat", "heap"}
	memoryImpls  = []string{"time", "go-zero", "heap", "wheel", "of", "keyed", "compat"}
	burstImpls   = []string{"time", "wheel/executor=Inline", "wheel/executor=Go", "wheel/executor=Pool64"}
	cascadeImpls = []string{"time", "epicycle", "epicycle/precision=1µs/inline"}
	bothImpls    = []string{"time", "epicycle"}
)

// takes tells whether n timers are within reason. What is no contender's name
// takes any number.
func takes(impl string, n int) bool {
	return !slices.ContainsFunc(contender.All, func(c contender.Contender) bool {
		return c.Name == impl && !c.Takes(n)
	})
}

// jobs are those of one round. What is compared runs in turns, so that what else
// goes on on the machine hits all alike.
func (p plan) jobs() []job {
	var jobs []job
	add := func(own bool, time, family string, impls []string, n int) {
		for _, impl := range impls {
			if takes(impl, n) {
				jobs = append(jobs, job{benchmark{family, impl, n}, own, time})
			}
		}
	}
	for _, n := range p.pending {
		add(true, p.time, "SetStop", costImpls, n)
	}
	add(true, once, "Burst", burstImpls, p.crowd)
	add(true, once, "Memory", memoryImpls, p.crowd)
	for _, to := range []string{"any", "keepalive"} {
		add(false, p.time, "Reset", []string{"time/to=" + to, "epicycle/to=" + to}, million)
	}
	add(false, once, "ResetLatency", bothImpls, p.resets)
	add(false, p.time, "GC", bothImpls, million)
	add(false, p.time, "GC", []string{"empty"}, 0)
	if p.slow {
		add(false, once, "Cascade", cascadeImpls, million)
		add(false, once, "Expiry", bothImpls, million)
		add(false, once, "ResetExpiry", bothImpls, million)
	}
	return append(jobs, p.peerJobs(jobs)...)
}
