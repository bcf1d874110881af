//go:build linux

package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/epicycle-go/epicycle/clock"
)

// steady is the clock of all processes of a run, and of their records: clock.Precise(), with a wall clock that goes on from
// the machine's at the beginning, and that nobody can set.
type steady struct {
	clock.Clock
	zero int64 // the wall time when the machine's monotonic clock was 0
}

func newSteady(zero int64) steady { return steady{clock.Precise(), zero} }

// wallZero returns the zero of a clock that shows the time now.
func wallZero() int64 { return time.Now().UnixNano() - mono() }

func (c steady) Now() time.Time { return time.Unix(0, c.nano()) }
func (c steady) nano() int64    { return c.zero + mono() }

// mono returns the machine's monotonic clock, the same for all processes.
func mono() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(fmt.Sprintf("torture: no monotonic clock: %v", err))
	}
	return t.Nano()
}
