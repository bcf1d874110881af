package partition

import (
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// handClock is a clock that the test sets, and whose alarm rings when the test says so. It is not virtual:
// wake-ups are merged.
type handClock struct {
	mu      sync.Mutex
	elapsed time.Duration
	alarm   time.Duration // of the alarm, or -1
}

func (c *handClock) Now() time.Time {
	return time.Unix(1e9, 0).Add(c.Elapsed())
}

func (c *handClock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

func (c *handClock) NewAlarm(func()) clock.Alarm { return c }

func (c *handClock) Set(elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarm = elapsed
}

func (c *handClock) Stop() { c.Set(-1) }

func (c *handClock) at() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alarm
}

func (c *handClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapsed += d
}

// aimed waits until the writer has aimed the alarm after the calls before.
func (b *bench) aimed() {
	b.move("none", 0)
	b.move("none", 0) // the writer is done with the call before
}

// A ring that comes after the alarm was aimed anew, by the writer, delays no later wake-up.
func TestLateRingIsNotThatOfTheNextAim(t *testing.T) {
	b := newBench(t)
	c := &handClock{alarm: -1}
	b.cfg.Clock = c
	b.open()
	b.set("far", "", 100*time.Hour)
	b.set("near", "", 10*time.Millisecond)
	b.aimed()
	b.Equal(10*time.Millisecond, c.at())
	c.add(10 * time.Millisecond)
	b.aimed() // the writer begins the attempt
	b.Equal(100*time.Hour, c.at())
	b.p.firer.ring()
	b.set("next", "", 10*time.Millisecond)
	b.aimed()
	b.Equal(20*time.Millisecond, c.at())
	c.add(10 * time.Millisecond)
	b.p.firer.ring()
	b.aimed()
	b.set("soon", "", time.Millisecond/2)
	b.aimed()
	b.Equal(21*time.Millisecond, c.at(), "Precision after what the last ring was for")
}
