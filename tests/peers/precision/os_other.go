//go:build !linux

package main

import (
	"errors"
	"time"
)

var errSystem = errors.New("precision is measured on Linux only, with getrusage and timerfd")

func cpuTime() (time.Duration, error) { return 0, errSystem }

func tickBare(turn, period time.Duration) (wakeups uint64, err error) { return 0, errSystem }
