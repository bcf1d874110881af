package schedule

import (
	"slices"
	"strconv"
)

// Missed is a rule for runs that could not begin when they were due, because nobody was there to
// begin them or the run before took too long.
type Missed int

const (
	MissedOnce Missed = iota // one run stands for all that were missed
	MissedSkip               // none of them runs
	MissedAll                // each of them runs, one after another
)

var missedNames = []string{"once", "skip", "all"}

func (m Missed) valid() bool { return MissedOnce <= m && m <= MissedAll }

// String returns "once", "skip" or "all", which is what the text of a Schedule has after MISSED=.
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
