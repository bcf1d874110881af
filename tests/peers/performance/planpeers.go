package main

import (
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// These are the same in all plans that measure all contenders.
const (
	expiring = 100_000 // timers that run within a second; more would keep the machine busy
	beside   = 100_000 // timers that are pending while lone timers are set
)

// peerJobs returns the jobs of all contenders that are not among jobs.
func (p plan) peerJobs(jobs []job) []job {
	var more []job
	add := func(benchtime, family string, c contender.Contender, n int) {
		j := job{benchmark{family, c.Name, n}, true, benchtime}
		if c.Takes(n) && !slices.ContainsFunc(jobs, func(other job) bool { return other.benchmark == j.benchmark }) {
			more = append(more, j)
		}
	}
	for _, n := range p.peers {
		for _, c := range contender.All {
			add(p.time, "SetStop", c, n)
			if n < 1000 || n > million {
				continue
			}
			if c.Resets {
				add(p.time, "Move", c, n)
			}
			add(p.time, "Churn", c, n)
		}
	}
	if len(p.peers) > 0 {
		for _, c := range contender.All {
			add(once, "Memory", c, p.crowd)
			add(once, "Expire", c, expiring)
			add(waits(c), "Late", c, 0)
			add(waits(c), "Late", c, beside)
		}
	}
	return more
}

// waits returns the number of lone timers for which to wait. It is smaller if each timer takes a second.
func waits(c contender.Contender) string {
	if c.Fine >= time.Second {
		return "5x"
	}
	return "50x"
}
