package hierarchy

import (
	"strconv"
	"time"
)

// Missed is the rule of a Schedule for runs that are missed: those that fall due while the run before is in progress,
// and those that begin more than a minute late, because the machine was suspended, the wall clock was set forward, or
// the executor was busy. A Schedule with a method Missed() Missed has that rule, as those of hierarchy/schedule have.
//
// Without that method, a run that begins late takes place, once, and runs that fall due while another one is in
// progress are skipped.
type Missed int

const (
	MissedOnce Missed = iota // one run makes up for all missed runs
	MissedSkip               // no missed run is made up for
	MissedAll                // each missed run is made, one after another

	noRule Missed = -1
)

// missedAfter is how late a run may begin that is not missed. A shorter time would skip runs because a machine is busy.
const missedAfter = time.Minute

// String returns "once", "skip" or "all".
func (m Missed) String() string {
	if m < MissedOnce || m > MissedAll {
		return "Missed(" + strconv.Itoa(int(m)) + ")"
	}
	return [...]string{"once", "skip", "all"}[m]
}

// ruled is a Schedule's optional method.
type ruled interface{ Missed() Missed }

func ruleOf(s Schedule) Missed {
	if s, ok := s.(ruled); ok {
		return s.Missed()
	}
	return noRule
}

// makesUp reports whether runs that fell due during another run take place after it.
func (m Missed) makesUp() bool { return m == MissedOnce || m == MissedAll }

// lateBy applies the rule to a run that begins late, by the wall clock, and reports whether the run is skipped. mu must
// be held.
func (r *Repeater) lateBy(late time.Duration) (skipped bool) {
	switch {
	case late <= 0:
		return false
	case r.rule == MissedOnce:
		r.wall = r.wall.Add(late) // the run is also that of all times until now
	}
	return r.rule == MissedSkip && late > missedAfter
}
