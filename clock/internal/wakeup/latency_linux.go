package wakeup

import "time"

// lead is how long before its time an alarm is aimed at: as long as a wake-up
// takes. It is a low quantile of what wake-ups took lately, so that one seldom
// comes before its time and then has little left to wait.
type lead struct{ d time.Duration }

const (
	// leadShare is the share of wake-ups, one in so many, that take less than the
	// lead.
	leadShare = 4
	// longestLead is what no lead exceeds: waiting for the rest should cost less
	// than a wake-up does.
	longestLead = 100 * time.Microsecond
)

// learn takes note of what a wake-up took: of four, the three longer ones add as
// much as the shorter one takes off.
func (l *lead) learn(took time.Duration) {
	step := max(l.d/16, 500*time.Nanosecond)
	if took < l.d {
		l.d -= step * (leadShare - 1)
	} else {
		l.d += step
	}
	l.d = min(max(0, l.d), longestLead)
}

// overload tells whether the process is too busy to notice descriptors in time. It
// is found out by coming late, and believed for a while.
type overload struct{ left int }

const (
	// overloadedBy is what it takes a overloaded process to notice, and no idle one.
	overloadedBy = 300 * time.Microsecond
	// overloadFor is how many times it must be in time after that.
	overloadFor = 64
)

func (o *overload) lasts() bool { return o.left > 0 }
func (o *overload) renew()      { o.left = overloadFor }
func (o *overload) ease()       { o.left = max(0, o.left-1) }
