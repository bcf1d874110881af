package schedule

import (
	"slices"
	"strconv"
)

// Missed is a rule for runs that could not begin when they were due, because no process was there to begin them, or
// because the run before took too long.
type Missed int

const (
	MissedOnce Missed = iota // one run makes up for all missed runs
	MissedSkip               // no missed run is made up for
	MissedAll                // each missed run is made, one after another
)

var missedNames = []string{"once", "skip", "all"}

func (m Missed) valid() bool { return MissedOnce <= m && m <= MissedAll }

// String returns "once", "skip" or "all", as after MISSED= in the text of a Schedule.
func (m Missed) String() string {
	if !m.valid() {
		return "Missed(" + strconv.Itoa(int(m)) + ")"
	}
	return missedNames[m]
}

func missedNamed(name string) (Missed, bool) {
	i := slices.Index(missedNames, name)
	return Missed(max(i, 0)), i >= 0
}
