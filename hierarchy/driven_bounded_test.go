package hierarchy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fewNodes is the most nodes that a call may visit that is not the first to see a crowd.
const fewNodes = 3 * prepareBudget

// bounded calls f n times, and requires that no call visits many nodes.
func (s *measured) bounded(t *testing.T, n int, what string, f func(i int)) {
	t.Helper()
	s.step()
	longest := 0
	for i := range n {
		f(i)
		longest = max(longest, s.step())
	}
	require.LessOrEqual(t, longest, fewNodes, what)
	require.NoError(t, s.timers.Check())
}

// expire takes out n timers.
func (s *measured) expire(n int, now time.Duration) {
	for range s.Expire(now) {
		if n--; n == 0 {
			return
		}
	}
}

// crowdBeingTakenOut is a crowd of which Expire has taken out the first timers, in order of deadline.
func crowdBeingTakenOut(n int, passed bool, spread int) (s *measured, handles []Handle) {
	s = newMeasured()
	if passed {
		s.Set(0, 3*time.Hour)
		s.expire(-1, 2*time.Hour)
	}
	for i := range n {
		handles = append(handles, s.Set(0, time.Hour+time.Duration(i*spread)))
	}
	const out = 1000
	s.expire(out, 2*time.Hour)
	return s, handles[out:]
}

var takenOut = map[string]struct {
	passed bool
	spread int
}{
	"one instant":       {false, 0},
	"deadlines":         {false, 100},
	"passed instant":    {true, 0},
	"passed deadlines":  {true, 100},
	"passed, backwards": {true, -100},
}

// passOver calls Expire for one timer after n others were removed or moved away. Expire may have to visit these, once,
// unless the crowd was sorted already.
func (s *measured) passOver(t *testing.T, n int, name string) {
	most := fewNodes
	if name == "deadlines" {
		most += n
	}
	s.expire(1, 2*time.Hour)
	require.LessOrEqual(t, s.step(), most)
}

// No call visits many timers of a crowd that is being taken out, whatever is removed from it, moved or added.
func TestCallsOnACrowdThatIsBeingTakenOut(t *testing.T) {
	const n, few = 50_000, manyNew - 1
	for name, crowd := range takenOut {
		t.Run(name, func(t *testing.T) {
			s, handles := crowdBeingTakenOut(n, crowd.passed, crowd.spread)
			third := len(handles) / 3
			removed, moved, rest := handles[:third], handles[third:2*third], handles[2*third:]
			s.bounded(t, third, "Remove", func(i int) { s.Remove(removed[i]) })
			s.bounded(t, third, "Move", func(i int) { s.Move(moved[i], 100*time.Hour) })
			s.passOver(t, 2*third, name)
			s.bounded(t, 1000, "Expire", func(int) { s.expire(1, 2*time.Hour) })
			s.bounded(t, few, "Set", func(i int) { s.Set(0, 2*time.Hour) })
			s.bounded(t, len(rest)-1, "Remove", func(i int) { s.Remove(rest[len(rest)-1-i]) })
			s.passOver(t, len(rest), name)
			s.bounded(t, few-1, "Next", func(int) { s.Next(); s.expire(1, 2*time.Hour) })
		})
	}
}

// The same if all but one are removed.
func TestRemovingACrowdThatIsBeingTakenOut(t *testing.T) {
	for name, crowd := range takenOut {
		t.Run(name, func(t *testing.T) {
			s, handles := crowdBeingTakenOut(50_000, crowd.passed, crowd.spread)
			s.bounded(t, len(handles)-1, "Remove", func(i int) { s.Remove(handles[1+i]) })
			require.Less(t, s.timers.Entries(), 5000)
			s.passOver(t, 5000, name)
		})
	}
}
