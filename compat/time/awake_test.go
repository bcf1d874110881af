package time

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The process is woken at each of a few times, in whatever order they were added, and not at those that were removed.
func TestAwakeAtAFewTimes(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed
	at := func(d Duration) Duration { return start + d }
	for _, d := range []Duration{5 * Millisecond, Microsecond, 900 * Millisecond, 70 * Millisecond} {
		require.Equal(t, at(d), x.set(d))
	}
	x.remove(x.set(30 * Millisecond))
	c.moveTo(start + Second)
	require.Equal(t, []Duration{at(Microsecond), at(5 * Millisecond), at(70 * Millisecond), at(900 * Millisecond)}, c.taken())
	c.moveTo(start + Hour)
	require.Empty(t, c.taken())
}

// So it is where they are within a millisecond, and where one of them is removed.
func TestAwakeAtTimesOfOneWindow(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed - c.elapsed%width + width
	c.moveTo(start)
	for _, d := range []Duration{100, 700, 300} {
		x.set(d * Microsecond)
	}
	x.remove(x.set(50 * Microsecond))
	x.aimAt(x.next(start, never)) // as for a time that is set anew
	c.moveTo(start + Second)
	require.Equal(t, []Duration{
		start + 50*Microsecond, // in vain
		start + 100*Microsecond, start + 300*Microsecond, start + 700*Microsecond,
	}, c.taken())
}

// The farthest time that is added does not take the place of one that is not past.
func TestAwakeAtTheFarthestTime(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed - c.elapsed%width + width - 3
	c.moveTo(start)
	for _, d := range []Duration{2, 1, far} {
		x.set(d)
	}
	c.moveTo(start + 2*Second)
	require.Equal(t, []Duration{start + 1, start + 2, start + far}, c.taken())
}

// Nothing is prepared for a time that was removed: the alarm is stopped when the clock asks before a far ring.
func TestRemovedTimeIsReviewed(t *testing.T) {
	x, c := onHandClock()
	at := x.set(900 * Millisecond)
	c.elapsed += 800 * Millisecond
	c.review()
	require.Equal(t, at, c.aim)
	x.remove(at)
	c.review()
	require.Zero(t, c.aim)
	require.Equal(t, int64(never), x.aim.Load())
	require.Equal(t, at+1, x.set(100*Millisecond+1))
	require.Equal(t, at+1, c.aim)
}

// What aiming takes is not slept again, so that the process is woken when the sleeper is due.
func TestSleepUntilWhatWasAimedAt(t *testing.T) {
	x, c := onHandClock()
	c.setting = 20 * Microsecond
	start := c.elapsed
	for _, d := range []Duration{Millisecond, Hour, 0, -1} {
		x.sleep(d, func(left Duration) {
			require.Equal(t, start+d, c.elapsed+left)
			if d == Millisecond {
				require.Equal(t, start+d, c.aim)
			}
		})
		start = c.elapsed
	}
	c.moveTo(Hour + Second)
	require.Len(t, c.taken(), 1)
	require.Zero(t, c.aim)
}

// Times that are past or far ahead are not watched.
func TestNotAwakeAtFarTimes(t *testing.T) {
	x, c := onHandClock()
	for _, d := range []Duration{0, -1, -1 << 63, far + 1, Hour, 1<<63 - 1} {
		require.Zero(t, x.set(d))
	}
	require.Zero(t, c.aim)
}

// Windows that share places do not take each other's times, and leave each other room.
func TestWindowsThatShareAPlace(t *testing.T) {
	x, c := onHandClock()
	earlier := Duration(0)
	for i := range 4 * few {
		at := x.set(10 * Millisecond)
		require.NotZero(t, at)
		if i%2 == 0 {
			x.remove(earlier) // as late as that
		}
		c.moveTo(at)
		require.Equal(t, []Duration{at}, c.taken())
		earlier = at
		c.moveTo(at + reach*width - 10*Millisecond)
		require.Empty(t, c.taken())
	}
}

// In a crowd the process is left alone, until some time after it was one.
func TestCrowdIsLeftAlone(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed - c.elapsed%width + width
	c.moveTo(start)
	for i := range Duration(few) {
		require.NotZero(t, x.set(10*width+i))
	}
	require.Zero(t, x.set(10*width+few), "the one that makes it a crowd")
	require.Zero(t, x.set(Millisecond))
	c.moveTo(start + lasting - 1)
	require.Zero(t, x.set(Millisecond))
	c.review()
	require.Zero(t, x.set(Millisecond))
	require.Empty(t, c.taken())
	c.moveTo(start + lasting)
	require.Len(t, c.taken(), 1)
	at := x.set(Millisecond)
	c.moveTo(at)
	require.Equal(t, []Duration{at}, c.taken())
}

// Timers that are due one after the other within a window are a crowd, too.
func TestTimersInALoopAreACrowd(t *testing.T) {
	x, c := onHandClock()
	c.moveTo(c.elapsed - c.elapsed%width + width)
	for range few {
		at := x.set(Microsecond)
		require.NotZero(t, at)
		c.moveTo(at)
	}
	require.Zero(t, x.set(Microsecond))
}

// However often a timer is set and stopped, or a goroutine sleeps, within a window, it is no crowd.
func TestLoopIsNoCrowd(t *testing.T) {
	x, c := onHandClock()
	for range 100 {
		at := x.set(Microsecond)
		require.NotZero(t, at)
		c.moveTo(at)
		require.Equal(t, []Duration{at}, c.taken())
		x.remove(at)
	}
}

// Random times, against a list of them. The alarm is never set to later than the first of them, and rings no more often
// than times were added.
func TestAwakeModel(t *testing.T) {
	for range 20 {
		x, c := onHandClock()
		added, rung := 0, 0
		var live []Duration
		for range 1000 {
			switch rand.IntN(4) {
			case 0:
				if n := len(live); n > 0 {
					i := rand.IntN(n)
					x.remove(live[i])
					live[i] = live[n-1]
					live = live[:n-1]
				}
			case 1:
				c.moveTo(c.elapsed + rand.N(5*Millisecond))
				rung += len(c.taken())
			default:
				crowd := x.crowded.Load()
				if at := x.set(1 + rand.N(100*Millisecond)); at != 0 {
					live = append(live, at)
				}
				if !crowd {
					added++ // also if this has made a crowd, at whose end the alarm rings
				}
			}
			for _, at := range live {
				if at > c.elapsed && (c.aim == 0 || c.aim > at) && !x.crowded.Load() {
					require.FailNow(t, "the process is not woken", "%v is later than %v", c.aim, at)
				}
			}
		}
		require.LessOrEqual(t, rung, added)
	}
}
