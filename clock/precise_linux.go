package clock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/epicycle-go/epicycle/clock/internal/wakeup"
)

func precise() Clock {
	if inBubble() {
		return System()
	}
	return &preciseClock{system: system{start: time.Now()}, waker: wakeup.Process}
}

// inBubble reports whether the caller runs in a testing/synctest bubble. There the runtime's
// clock starts at the year 2000, and differs from the kernel's.
func inBubble() bool {
	var kernel unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &kernel) != nil {
		return false
	}
	return time.Since(time.Unix(kernel.Unix())).Abs() > time.Hour
}

// preciseClock reads the time as System does. Its alarms are alarms of the waker.
type preciseClock struct {
	system
	waker *wakeup.Waker
}

func (c *preciseClock) String() string { return fmt.Sprintf("precise, by %v", c.waker) }

func (c *preciseClock) NewAlarm(ring func()) Alarm { return c.waker.NewAlarm(c.start, ring) }
