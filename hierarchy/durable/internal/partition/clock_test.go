package partition

import "github.com/epicycle-go/epicycle/clock"

// realClock is for tests of what needs several goroutines at once.
func realClock() clock.Clock { return clock.Precise() }
