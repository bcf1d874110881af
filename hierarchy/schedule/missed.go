package schedule

import "github.com/epicycle-go/epicycle/hierarchy"

// Missed is the rule of a Schedule for missed runs. What counts as missed depends on what makes the runs: see
// hierarchy.Missed for wheels.
type Missed = hierarchy.Missed

const (
	MissedOnce = hierarchy.MissedOnce // one run makes up for all missed runs
	MissedSkip = hierarchy.MissedSkip // no missed run is made up for
	MissedAll  = hierarchy.MissedAll  // each missed run is made, one after another
)

func valid(m Missed) bool { return MissedOnce <= m && m <= MissedAll }

// missedNamed returns the rule of that name, as after MISSED= in the text of a Schedule.
func missedNamed(name string) (Missed, bool) {
	for m := MissedOnce; valid(m); m++ {
		if m.String() == name {
			return m, true
		}
	}
	return 0, false
}
