//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time this process has used.
func cpuTime() time.Duration { return cpuOf(unix.RUSAGE_SELF) }

// cpuOfAll is the processor time that this process and its children have used.
func cpuOfAll() time.Duration { return cpuTime() + cpuOf(unix.RUSAGE_CHILDREN) }

func cpuOf(who int) time.Duration {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mostConnections is how many connections a process may have, of n. Some descriptors are for other things.
func mostConnections(n int) int {
	const others = 100
	var most unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &most) != nil || most.Cur < 2*others {
		return min(n, others)
	}
	return int(min(uint64(n), uint64(most.Cur)-others))
}
