package circles

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// The time of a call may be earlier than that of the call before, also while a crowd is being fired: then
// nothing is due, and the answer is when.
func TestTimeOfACallMayBeEarlier(t *testing.T) {
	const n, at = 2000, int64(time.Hour)
	c := newCircles(time.Second)
	for i := range uint64(n) {
		c.Add(0, at, i+1, 0)
	}
	require.Equal(t, Due, c.Next(at, batch).State)
	require.NotZero(t, c.open, "all of the crowd was read, so this tests nothing")
	first := c.Next(at, batch).Node
	require.Equal(t, Verdict{State: NotBefore, Node: first, At: at}, c.Next(at-1, batch))
	require.Len(t, fire(t, c, at), n)
}

// Next does not go through all that was removed of a crowd of one instant under one hold of the lock.
func TestRemovedInstantIsDroppedInPortions(t *testing.T) {
	const n = 20_000
	c := newCircles(time.Second)
	for i := range uint64(n) {
		c.Add(0, int64(1000*time.Hour)+int64(i), i+1, 0) // so many others that nothing is swept
	}
	nodes := make([]uint32, n)
	for i := range nodes {
		nodes[i] = c.Add(0, int64(time.Hour), uint64(n+1+i), 0)
	}
	for _, i := range nodes {
		c.Remove(i, c.arena.At(i))
	}
	before, asked := c.Visited(), 0
	for c.Next(1, batch).State == AskAgain {
		require.LessOrEqual(t, c.Visited()-before, batch+c.tuning.SortUpTo)
		before = c.Visited()
		asked++
	}
	require.Greater(t, asked, n/(2*batch))
	require.NoError(t, c.Check())
}

// No call drops more than a few stale entries, however many are swept out of one slot.
func TestSweptSlotIsCutInPortions(t *testing.T) {
	const n = 100_000
	c := newCircles(time.Second)
	nodes := make([]uint32, n)
	for i := range nodes {
		nodes[i] = c.Add(0, int64(time.Hour)+int64(i%1000), uint64(i+1), 0)
	}
	for _, i := range nodes {
		before := c.entries
		c.Remove(i, c.arena.At(i))
		require.LessOrEqual(t, before-c.entries, arena.BlockLen)
	}
	require.NoError(t, c.Check())
	require.LessOrEqual(t, c.entries, sweepFrom+readTogether)
}

// Sweeping keeps the entries of all timers that stay, wherever in their slot they are.
func TestSweptSlotKeepsWhatCounts(t *testing.T) {
	const n, stay = 10_000, 500
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	nodes := make([]uint32, n)
	for i := range nodes {
		nodes[i] = c.Add(0, int64(time.Hour)+r.Int64N(int64(time.Second)), uint64(i+1), 0)
	}
	r.Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for k, i := range nodes[stay:] {
		c.Remove(i, c.arena.At(i))
		if k%100 == 0 {
			require.NoError(t, c.Check())
		}
	}
	require.Less(t, c.entries, n/4, "nothing was swept, so this tests nothing")
	require.ElementsMatch(t, nodes[:stay], fire(t, c, int64(2*time.Hour)))
}

// A wheel that is late has no more than a few timers of a crowd in the heap of what is behind the hand.
func TestLateCrowdStaysInItsSlot(t *testing.T) {
	const n = 200_000
	c := newCircles(time.Second)
	c.tuning.LeadTime = 0 // nothing is cascaded ahead
	for i := range int64(n) {
		c.Add(0, int64(time.Minute)+(n-i)*1000, uint64(i+1), 0)
	}
	for left := n; left > 0; {
		v := c.Next(int64(time.Hour), readTogether)
		require.LessOrEqual(t, c.overdue.n, c.tuning.SortUpTo+2*readTogether)
		if v.State == Due {
			c.Remove(v.Node, c.arena.At(v.Node))
			left--
		}
	}
}

// A stale entry may have the stamp of a timer that is in the same place of memory long after. It does not
// bring the slot out of order where it was left behind.
func TestStaleEntryThatCountsAgain(t *testing.T) {
	const at, wrapped, few = int64(1) << 40, 1 << 24, 24 // few are sorted by comparing them
	c := newCircles(time.Second)
	width := int64(c.layout.Width(c.layout.CircleFor(at, 0)))
	deadlines := map[uint32]int64{}
	add := func(now, deadline int64, order uint64) (i uint32) {
		i = c.Add(now, deadline, order, 0)
		deadlines[i] = deadline
		return i
	}
	removed := add(0, at+width/2, 1)
	for i := int64(few); i >= 0; i-- {
		add(0, at+(i+1)*width/64, uint64(2+i))
	}
	c.Remove(removed, c.arena.At(removed))
	require.Equal(t, removed, add(0, width-1, 1+wrapped)) // in the last place by the lower bits of its deadline
	now := width - width/64
	c.Next(now, batch)
	add(now, at+1, 2+wrapped)
	c.Next(now, batch)
	last := int64(0)
	for _, i := range fire(t, c, at+width) {
		require.LessOrEqual(t, last, deadlines[i])
		last = deadlines[i]
	}
	require.Equal(t, at+(few+1)*width/64, last)
}

// A timer that moves earlier within a slot that is sorted already comes in its turn.
func TestMoveEarlierInASortedSlot(t *testing.T) {
	const slot, ms = int64(time.Hour), int64(time.Millisecond)
	c := newCircles(time.Second)
	first := c.Add(0, slot+1*ms, 1, 0)
	second := c.Add(0, slot+5*ms, 2, 0)
	last := c.Add(0, slot+9*ms, 3, 0)
	require.Equal(t, first, c.Next(0, Unlimited).Node)
	c.Move(last, c.arena.At(last), 0, slot+3*ms, 4)
	require.NoError(t, c.Check())
	require.Equal(t, []uint32{first, last}, fire(t, c, slot+4*ms))
	require.Equal(t, []uint32{second}, fire(t, c, slot+5*ms))
}

// A timer that is set before all of a crowd which is being cascaded ahead is known to whoever asks next, also if
// what was left of the crowd is cascaded meanwhile.
func TestSetBeforeACrowdThatIsBeingCascaded(t *testing.T) {
	c := newCircles(time.Second)
	k := c.layout.Base()
	start, width := c.layout.width(k).Start(5, 0), int64(c.layout.Width(k))
	n := int64(2 * c.tuning.SortUpTo)
	for i := range n {
		c.Add(0, start+width/2+i*(width/2/n), uint64(i)+1, 0)
	}
	now := start - 1
	c.CascadeAhead(now, readTogether)
	early := start + width/4
	c.Add(now, early, uint64(n)+1, 0)
	require.NoError(t, c.Check())
	v := c.Next(now, int(4*n))
	require.Equal(t, NotBefore, v.State)
	require.LessOrEqual(t, v.At, early)
}

// Crowds of one instant each are not cascaded. Looking for the next crowd does not visit them again and again.
func TestInstantsAreNotLookedAtAgain(t *testing.T) {
	const instants, begin = 1000, int64(8) << 30
	c := newCircles(time.Second)
	order := uint64(0)
	for i := range int64(instants) {
		for range c.tuning.SortUpTo + 1 {
			order++
			c.Add(0, begin+i<<18, order, 0)
		}
	}
	c.CascadeAhead(int64(time.Hour), Unlimited)
	require.NoError(t, c.Check())
	before := c.Visited()
	_, found := c.NextCrowd(0)
	require.False(t, found)
	require.LessOrEqual(t, c.Visited()-before, level.Slots)
}

// A call that sweeps visits few entries, however many slots have any and whatever was done with them ahead.
func TestSweepVisitsFew(t *testing.T) {
	const n = 50_000
	c := newCircles(time.Second)
	nodes := make([]uint32, n)
	for i := range nodes {
		nodes[i] = c.Add(0, int64(i)*int64(50*time.Millisecond), uint64(i+1), 0)
	}
	for range 100 { // each first slot is sorted ahead, and then removed
		for range 100 {
			c.Next(0, batch)
			c.Remove(nodes[0], c.arena.At(nodes[0]))
			nodes = nodes[1:]
		}
		c.CascadeAhead(int64(time.Hour), 2*batch)
	}
	for _, i := range nodes[1:] {
		before := c.Visited()
		c.Remove(i, c.arena.At(i))
		require.LessOrEqual(t, c.Visited()-before, c.tuning.SortUpTo+readTogether)
	}
	require.NoError(t, c.Check())
	require.LessOrEqual(t, c.Entries(), 2*sweepFrom)
}
