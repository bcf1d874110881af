package clock

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

// strain tells whether the process is too busy to notice descriptors in time. It
// is found out by coming late, and believed for a while.
type strain struct{ left int }

const (
	// strainedBy is what it takes a strained process to notice, and no idle one.
	strainedBy = 300 * time.Microsecond
	// strainFor is how many times it must be in time after that.
	strainFor = 64
)

func (s *strain) lasts() bool { return s.left > 0 }
func (s *strain) renew()      { s.left = strainFor }
func (s *strain) ease()       { s.left = max(0, s.left-1) }
