package time

import "github.com/epicycle-go/epicycle/clock"

// handClock is a clock that tests move. It has one alarm.
type handClock struct {
	elapsed Duration
	aim     Duration // of the alarm; 0 if it is not set
	ring    func()
	review  func()
	rings   []Duration
	setting Duration // what Set takes
}

func (c *handClock) Now() Time                        { return Unix(0, int64(c.elapsed)) }
func (c *handClock) Elapsed() Duration                { return c.elapsed }
func (c *handClock) NewAlarm(ring func()) clock.Alarm { c.ring = ring; return c }
func (c *handClock) Set(elapsed Duration)             { c.aim, c.elapsed = elapsed, c.elapsed+c.setting }
func (c *handClock) Review(f func())                  { c.review = f }
func (c *handClock) Stop()                            { c.aim = 0 }

// moveTo moves the clock, and rings the alarm on the way.
func (c *handClock) moveTo(elapsed Duration) {
	for c.aim != 0 && c.aim <= elapsed {
		c.elapsed = max(c.elapsed, c.aim)
		c.aim = 0
		c.rings = append(c.rings, c.elapsed)
		c.ring()
	}
	c.elapsed = elapsed
}

// taken returns when the alarm has rung since the last call.
func (c *handClock) taken() []Duration {
	rings := c.rings
	c.rings = nil
	return rings
}

func onHandClock() (*instants, *handClock) {
	c := &handClock{elapsed: Hour}
	return newInstants(c), c
}

// set adds a time as a timer does.
func (x *instants) set(d Duration) Duration {
	at := x.add(d)
	x.aimAt(at)
	return at
}
