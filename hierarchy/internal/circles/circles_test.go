package circles

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	endOfTime int64 = math.MaxInt64
	batch           = 256 // the budget that shards use
)

func newCircles(interval time.Duration) *Circles {
	c := new(Circles)
	c.Init(NewLayout(interval), DefaultTuning(), 0)
	return c
}

// deadlineAfter returns now + d, saturated at the end of time.
func deadlineAfter(now int64, d time.Duration) int64 {
	if now+int64(d) < now {
		return endOfTime
	}
	return now + max(0, int64(d))
}

// fire takes out all that is due, and returns the nodes in their order.
func fire(t *testing.T, c *Circles, now int64) (fired []uint32) {
	for again := 0; ; {
		switch v := c.Next(now, batch); v.State {
		case Due:
			require.LessOrEqual(t, v.At, now, "early")
			c.Remove(v.Node, c.arena.At(v.Node))
			fired = append(fired, v.Node)
			again = 0
		case AskAgain:
			again++
			require.Less(t, again, 100_000, "Next never stops asking to be called again")
		default:
			return fired
		}
	}
}

// A crowd of one instant is read where it is.
func TestCrowdOfOneInstantIsNotCascaded(t *testing.T) {
	const n, at = 10_000, int64(time.Hour)
	c := newCircles(time.Second)
	for i := range uint64(n) {
		c.Add(0, at, i+1, 0)
	}
	last := uint64(0)
	for range n {
		v := c.Next(2*at, batch)
		for ; v.State == AskAgain; v = c.Next(2*at, batch) {
		}
		require.Equal(t, Due, v.State)
		node := c.arena.At(v.Node)
		require.Greater(t, node.Order(), last)
		last = node.Order()
		c.Remove(v.Node, node)
	}
	require.Zero(t, c.Cascaded())
}

// The deadline of a timer alone in its slot is known exactly, and the timer fires from that slot, however
// far away its deadline is.
func TestLoneTimerIsNotCascaded(t *testing.T) {
	c := newCircles(time.Second)
	deadline := 3 * 365 * 24 * int64(time.Hour)
	i := c.Add(0, deadline, 1, 0)
	require.Equal(t, Verdict{State: NotBefore, Node: i, At: deadline}, c.Next(1, batch))
	require.Equal(t, Due, c.Next(deadline, batch).State)
	require.Zero(t, c.Cascaded())
}

// A timer is cascaded at most once for each circle.
func TestCascadesAreFew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	const n = 50_000
	for i := range uint64(n) {
		c.Add(0, r.Int64N(int64(10*365*24*time.Hour)), i+1, 0)
	}
	at := int64(0)
	for fired := 0; fired < n; {
		v := c.Next(at, batch)
		if v.State != Due {
			at = max(at, v.At)
			continue
		}
		c.Remove(v.Node, c.arena.At(v.Node))
		fired++
	}
	require.Less(t, c.Cascaded(), uint64(n*c.layout.count))
	t.Logf("%.2f cascades per timer over ten years", float64(c.Cascaded())/n)
}

// A crowd that lies close together, in a slot that is much wider, is spread out when that is opened: not
// cascaded from circle to circle as one.
func TestHandJumpsToACrowdThatLiesCloseTogether(t *testing.T) {
	const n, epoch = 10_000, int64(1_800_000_000_000_000_000)
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	for i := range uint64(n) {
		c.Add(0, epoch+r.Int64N(int64(time.Minute)), i+1, 0)
	}
	for left := n; left > 0; left-- {
		v := c.Next(epoch+int64(time.Minute), Unlimited)
		require.Equal(t, Due, v.State)
		c.Remove(v.Node, c.arena.At(v.Node))
	}
	require.Less(t, c.Cascaded(), uint64(3*n))
}

// Next without a limit goes through a crowd once: later calls find it cascaded ahead and sorted, however many
// of its timers go.
func TestNextCascadesACrowdOnce(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	for i := range uint64(n) {
		c.Add(0, int64(100*time.Second)+r.Int64N(int64(time.Second)/2), i+1, 0)
	}
	for range n / 100 {
		i := c.Next(0, Unlimited).Node
		require.NotZero(t, i)
		c.Remove(i, c.arena.At(i))
	}
	require.LessOrEqual(t, c.Cascaded(), uint64(3*n))
	require.LessOrEqual(t, c.Visited(), 4*n)
}

// A slot that was sorted ahead, and to which then a crowd of one instant came, still has its first timers.
func TestCrowdJoinsASortedSlot(t *testing.T) {
	const first, instant = int64(2 * time.Hour), int64(2*time.Hour + time.Minute)
	c := newCircles(time.Hour)
	early := c.Add(0, first, 1, 0)
	c.Add(0, first+5, 2, 0)
	require.Equal(t, early, c.Next(0, Unlimited).Node)
	for n := range c.tuning.SortUpTo + 1 {
		c.Add(0, instant, uint64(3+n), 0)
	}
	require.Len(t, fire(t, c, first+5), 2)
	require.Len(t, fire(t, c, instant), c.tuning.SortUpTo+1)
}

// No call goes through many more entries than its budget and those of one slot that is sorted, whatever
// the crowd is like and however late the hand is.
func TestStepsAreBounded(t *testing.T) {
	const n = 100_000
	for name, deadline := range map[string]func(i int64) int64{
		"spread":       func(i int64) int64 { return i * 7919 % n * int64(time.Microsecond) },
		"in order":     func(i int64) int64 { return i * 100 },
		"two instants": func(i int64) int64 { return i % 2 },
		"one instant":  func(int64) int64 { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []time.Duration{50 * time.Microsecond, 10 * time.Millisecond, time.Hour} {
				c := newCircles(time.Second)
				for i := range int64(n) {
					c.Add(0, int64(time.Minute)+deadline(i), uint64(i+1), 0)
				}
				for now := int64(time.Minute) - int64(time.Second)/2; c.arena.Len() > 0; now += int64(step) {
					before := c.Visited()
					v := c.Next(now, batch)
					for ; v.State == Due || v.State == AskAgain; v = c.Next(now, batch) {
						require.Less(t, c.Visited()-before, batch+c.tuning.SortUpTo+besideBudget+2*readTogether)
						if v.State == Due {
							c.Remove(v.Node, c.arena.At(v.Node))
						}
						before = c.Visited()
					}
					require.Equal(t, c.arena.Len() == 0, v.State == Empty, "none is lost")
				}
			}
		})
	}
}

// However often timers move, there are few stale entries, and none of their memory stays once all have gone.
func TestStaleEntriesAreSwept(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	nodes := make([]uint32, n)
	for i := range nodes {
		nodes[i] = c.Add(0, int64(time.Hour), uint64(i+1), 0)
	}
	for order := range uint64(20 * n) {
		i := nodes[r.IntN(n)]
		c.Move(i, c.arena.At(i), 0, r.Int64N(int64(time.Hour)), n+1+order)
		require.LessOrEqual(t, c.entries, 2*n+n/8+sweepFrom) // a bag is shortened once it was gone through
	}
	require.NoError(t, c.Check())
	for _, i := range nodes {
		c.Remove(i, c.arena.At(i))
	}
	require.NoError(t, c.Check())
	require.LessOrEqual(t, c.entries, sweepFrom+readTogether)
}

// What was cascaded ahead, whose parts are small, is no crowd any more until one of them becomes one.
func TestCascadedCrowdsAreNotLookedAtAgain(t *testing.T) {
	const n, begin = 10_000, int64(8) << 30
	c := newCircles(time.Second)
	for i := range int64(n) {
		c.Add(0, begin+i*7919%n<<16, uint64(1+i), 0)
	}
	require.NotZero(t, c.crowded)
	c.CascadeAhead(begin-1, Unlimited)
	_, found := c.NextCrowd(0)
	require.False(t, found)
	require.Zero(t, c.crowded)
	for i := range c.tuning.SortUpTo {
		c.Add(0, begin+1<<20+int64(i%7), uint64(n+1+i), 0)
	}
	x, found := c.NextCrowd(0)
	require.True(t, found)
	require.Less(t, x, begin+1<<20)
	require.NoError(t, c.Check())
}
