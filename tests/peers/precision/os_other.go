//go:build !linux

package main

import (
	"errors"
	"time"
)

var errSystem = errors.New("it measures on Linux only, by getrusage and timerfd")

func cpuTime() (time.Duration, error) { return 0, errSystem }

func tickBare(turn, period time.Duration) (wakeups uint64, err error) { return 0, errSystem }
