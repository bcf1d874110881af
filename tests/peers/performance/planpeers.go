package main

import (
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// expiring is the number of timers that run within a second, for all contenders. More would keep the machine busy.
const expiring = 100_000

// peerJobs returns the jobs of all contenders that are not among jobs.
func (p plan) peerJobs(jobs []job) []job {
	var more []job
	add := func(benchtime, family string, c contender.Contender, n int) {
		j := job{benchmark{family, c.Name, n}, true, benchtime}
		if c.Takes(n) && !slices.ContainsFunc(jobs, func(other job) bool { return other.benchmark == j.benchmark }) {
			more = append(more, j)
		}
	}
	if p.peers == 0 {
		return nil
	}
	for _, c := range contender.All {
		add(p.time, "SetStop", c, p.peers)
		if c.Resets {
			add(p.time, "Move", c, p.peers)
		}
		add(p.time, "Churn", c, p.peers)
		add(once, "Memory", c, p.peers)
		add(once, "Expire", c, expiring)
		add(waits(c), "Late", c, 0)
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
