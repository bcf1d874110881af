package clock

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

func precise() Clock {
	if inBubble() {
		return System()
	}
	return &preciseClock{system: system{start: time.Now()}, keeper: &timekeeper}
}

// inBubble tells whether time is that of a testing/synctest bubble: then the
// runtime's clock says it is about the year 2000, and the kernel's does not.
func inBubble() bool {
	var kernel unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &kernel) != nil {
		return false
	}
	return time.Since(time.Unix(kernel.Unix())).Abs() > time.Hour
}

// preciseClock reads time as System does; its alarms are the keeper's.
type preciseClock struct {
	system
	keeper *keeper
}

func (c *preciseClock) String() string { return fmt.Sprintf("precise, by %v", c.keeper) }

func (c *preciseClock) NewAlarm(ring func()) Alarm {
	return &preciseAlarm{
		keeper: c.keeper, offset: c.start.Sub(epoch), ringer: ringer{ring: ring},
	}
}

// preciseAlarm is an alarm that a keeper rings.
type preciseAlarm struct {
	keeper *keeper
	offset time.Duration // when its clock was made, after epoch
	ringer ringer

	at      time.Duration // after epoch; guarded by the keeper's mu, as all below
	stopped bool
	index   int
}

func (a *preciseAlarm) before(b *preciseAlarm) bool { return a.at < b.at }
func (a *preciseAlarm) place() *int                 { return &a.index }

func (a *preciseAlarm) Set(elapsed time.Duration) {
	at := max(0, elapsed) + a.offset
	if at < a.offset {
		at = math.MaxInt64
	}
	a.keeper.set(a, at)
}

func (a *preciseAlarm) Stop() { a.keeper.stop(a) }
