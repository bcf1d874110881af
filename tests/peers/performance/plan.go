package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// benchmark names one benchmark: Benchmark<family>/impl=<impl>/n=<n>. An impl may have
// further parts, such as to=any or executor=Go.
type benchmark struct {
	family, impl string
	n            int
}

func (b benchmark) String() string {
	return fmt.Sprintf("%s/impl=%s/n=%d", b.family, b.impl, b.n)
}

// pattern returns a -test.bench pattern that matches this benchmark only.
func (b benchmark) pattern() string {
	parts := strings.Split("Benchmark"+b.String(), "/")
	for i, part := range parts {
		parts[i] = "^" + part + "$"
	}
	return strings.Join(parts, "/")
}

// job is a benchmark to run, from the tests of package hierarchy or of this package.
type job struct {
	benchmark

	own  bool
	time string // a value of -test.benchtime
}

// plan says what is measured, and with how many timers.
type plan struct {
	rounds  int
	time    string // time for each benchmark of calls
	pending []int  // numbers of pending timers, for setting and stopping
	crowd   int    // number of timers due at one instant, and for measuring memory
	resets  int    // number of timers that two goroutines reset
	slow    bool   // whether to run also the benchmarks that take seconds with any number of timers
	peers   int    // number of pending timers for all contenders, or 0
	lives   int    // number of entries for the benchmarks of Driven, which run alone
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

// The numbers of pending timers for all contenders, if they are measured.
const (
	fullPeers  = million
	quickPeers = 100_000
)

// The plans that measure Driven alone.
var (
	fullLives  = plan{rounds: 3, time: "200ms", lives: million}
	quickLives = plan{rounds: 1, time: "50ms", lives: 100_000}
)

// once is a value of -test.benchtime.
const once = "1x"

// million is the number of timers in some benchmarks of package hierarchy.
const million = 1_000_000

// The implementations that are compared, as benchmarks name them, in the order of pictures
// and tables.
var (
	costImpls    = []string{"time", "go-zero", "wheel", "keyed", "compat", "heap"}
	memoryImpls  = []string{"time", "go-zero", "heap", "wheel", "of", "keyed", "compat"}
	burstImpls   = []string{"time", "wheel/executor=Inline", "wheel/executor=Go", "wheel/executor=Pool64"}
	cascadeImpls = []string{"time", "epicycle", "epicycle/precision=1µs/inline"}
	bothImpls    = []string{"time", "epicycle"}
)

// takes reports whether impl can be measured with n timers. A name that is not a contender's can be measured with any
// number.
func takes(impl string, n int) bool {
	return !slices.ContainsFunc(contender.All, func(c contender.Contender) bool {
		return c.Name == impl && !c.Takes(n)
	})
}

// jobs returns the jobs of one round. Implementations that are compared run one after
// another, so that other work of the machine affects them all alike.
func (p plan) jobs() []job {
	if p.lives > 0 {
		return p.lifeJobs()
	}
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
