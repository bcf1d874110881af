package limits

import (
	"math"
	"time"
)

// Meter counts the attempts of a scope, and tells how many more may begin. It is not safe for concurrent use.
type Meter struct {
	limit   Limit
	running int
	next    time.Time // when the next attempt may begin, by the rate
}

// lag is how much an attempt may be late without those after it being late, too: an alarm rings a bit late each time, and
// the rate would else be less than it should be. What is not used for longer is not made up for.
const lag = 5 * time.Millisecond

// Set sets the limit. Attempts in progress count on.
func (m *Meter) Set(l Limit, now time.Time) {
	m.limit = l
	if l.Rate > 0 && m.next.Sub(now) > l.interval() { // the rate was lower before
		m.next = now.Add(l.interval())
	}
}

// Limit returns the limit.
func (m *Meter) Limit() Limit { return m.limit }

// Count sets the number of attempts in progress.
func (m *Meter) Count(running int) { m.running = running }

// Running returns the number of attempts in progress.
func (m *Meter) Running() int { return m.running }

// Room returns how many attempts may begin now.
func (m *Meter) Room(now time.Time) int {
	if m.limit.Paused {
		return 0
	}
	room := math.MaxInt
	if m.limit.AtOnce > 0 {
		room = max(0, m.limit.AtOnce-m.running)
	}
	if m.limit.Rate > 0 {
		since := now.Sub(m.from(now))
		if since < 0 {
			return 0
		}
		room = min(room, 1+int(since/m.limit.interval()))
	}
	return room
}

// from returns when the next attempt may begin, or could have begun.
func (m *Meter) from(now time.Time) time.Time {
	if m.next.Before(now.Add(-lag)) {
		return now
	}
	return m.next
}

// Wait returns how long it takes until the rate lets an attempt begin. It is 0 if it is not the rate that prevents it.
func (m *Meter) Wait(now time.Time) time.Duration {
	if m.limit.Rate == 0 || m.limit.Paused {
		return 0
	}
	return max(0, m.next.Sub(now))
}

// Begin counts an attempt that begins.
func (m *Meter) Begin(now time.Time) {
	m.running++
	if m.limit.Rate > 0 {
		m.next = m.from(now).Add(m.limit.interval())
	}
}

// End counts an attempt that has ended.
func (m *Meter) End() { m.running-- }
