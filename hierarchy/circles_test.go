package hierarchy

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

func TestNearestPower(t *testing.T) {
	for n, want := range map[time.Duration]int{
		1: 0, 2: 1, 3: 2, 5: 2, 6: 3, 1 << 20: 20, 1<<20 - 1: 20, 1<<20 + 1: 20,
		time.Second: 30, 10 * time.Millisecond: 23, math.MaxInt64: topBit,
	} {
		require.Equal(t, want, nearestPower(int64(n)), "%d", n)
	}
}

// Every circle's slots are a power of two wide, a turn of one is a slot of the
// next, one is nearest to Interval, and together they reach to the end of time.
func TestLayout(t *testing.T) {
	for e := range 63 {
		for _, interval := range []time.Duration{1<<e - 1, 1 << e, 1<<e + 1} {
			if interval <= 0 {
				continue
			}
			l := newLayout(interval)
			width := float64(int64(1) << l.shift(l.base))
			ratio := width / float64(interval)
			require.InDelta(t, 0, math.Log2(ratio), 0.501, "interval %d: base %v", interval, width)
			require.EqualValues(t, 0, l.shift(0))
			for k := 2; k < l.levels; k++ {
				require.Equal(t, l.shift(k-1)+level.Bits, l.shift(k))
			}
			require.LessOrEqual(t, l.levels, maxLevels)
			require.Equal(t, l.levels-1, l.levelFor(math.MaxInt64, 0))
		}
	}
}

func TestLevelAndSlotAtEachBoundary(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 10 * time.Millisecond, 1, 7} {
		l := newLayout(interval)
		for k := 1; k < l.levels; k++ {
			width := int64(1) << l.shift(k)
			require.Equal(t, k-1, l.levelFor(width-1, 0), "one less than a slot of circle %d", k)
			require.Equal(t, k, l.levelFor(width, 0))
			require.Equal(t, k, l.levelFor(width+1, 0))
			require.Equal(t, 0, l.slotFor(k, width-1))
			require.Equal(t, 1, l.slotFor(k, width))
			require.Equal(t, 1, l.slotFor(k, 2*width-1))
			require.Equal(t, width, l.slotStart(k, 1, 0))
			require.Equal(t, 2*width-1, l.slotEnd(k, width))
			if k < l.levels-1 {
				require.Equal(t, k, l.levelFor(2*width, width), "the hand on the slot before")
				require.Equal(t, 64*width+width, l.slotStart(k, 1, 64*width+5))
			}
		}
	}
}

func TestDeadlineAfterSaturates(t *testing.T) {
	require.EqualValues(t, 7, deadlineAfter(5, 2))
	require.EqualValues(t, 5, deadlineAfter(5, 0))
	require.EqualValues(t, 5, deadlineAfter(5, math.MinInt64))
	require.EqualValues(t, never, deadlineAfter(5, math.MaxInt64))
	require.EqualValues(t, never, deadlineAfter(5, math.MaxInt64-5))
	require.EqualValues(t, never-1, deadlineAfter(5, math.MaxInt64-6))
}

// A budget of a few nodes at a time is how circles work under a real clock:
// cascades are interrupted anywhere, and timers set, moved and removed while
// they are half done. Nothing may be early, lost or found twice, and in the end
// everything due is found.
func TestCirclesInSmallSteps(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		newSteps(t, r).run(150)
	}
}

// The same with deadlines near to each other and to now, so that many slots are
// poured out ahead of their time, or begin to be.
func TestCirclesAhead(t *testing.T) {
	arrived := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		w := newSteps(t, r)
		w.near = 1 << uint(8+r.IntN(12))
		w.c.crowd, w.c.foreseen, w.c.pourTime = r.IntN(2), 1+r.IntN(3), 1<<uint(r.IntN(10))
		w.c.sparse = r.IntN(2) * 1 << 20 // always by the list, or always in the order of memory
		w.run(400)
		arrived += w.arrived
	}
	require.Greater(t, arrived, 500)
}

// TestCrowdScatteredOverAnArena has a crowd of which nearly all have gone. The few that
// are left are found along their list: a look at all of the arena would take longer
// than there is time.
func TestCrowdScatteredOverAnArena(t *testing.T) {
	const crowd, left = 1_000_000, 10_000
	r := rand.New(rand.NewPCG(1, 1))
	c := &circles{layout: newLayout(time.Second)}
	var all []uint32
	for seq := range uint64(crowd) {
		all = append(all, c.add(0, int64(100*time.Second)+r.Int64N(int64(time.Second)), seq+1, 0))
	}
	for n, i := range all {
		if n%(crowd/left) != 0 {
			c.remove(i, c.arena.At(i))
		}
	}
	k, _ := c.nextCrowd()
	c.lookAhead(k)
	budgets := 0
	for c.circle[k].Len(c.ahead[k].slot) > 0 {
		c.pourAhead(k, c.ahead[k], budget)
		budgets++
	}
	require.LessOrEqual(t, budgets, left/budget+1)
}

// Two slots are poured out ahead, and the nearer one is empty again. The further one
// still comes before what lies beyond it.
func TestNearerOfTwoSlotsAheadIsEmptied(t *testing.T) {
	const near, far, beyond = 48 << 20, 5 << 30, 9 << 30
	for _, drained := range []bool{false, true} {
		w := newSteps(t, rand.New(rand.NewPCG(1, 1)))
		w.c.layout = newLayout(time.Second)
		w.c.crowd, w.c.foreseen, w.c.pourTime = 0, 2, 1<<40
		for _, deadline := range []int64{beyond, far + 2, far + 1, far, near + 1, near} {
			w.add(deadline)
		}
		w.take(budget)
		require.Equal(t, 2, bits.OnesCount32(w.c.active), "poured out ahead")
		for i, deadline := range w.live {
			if deadline < far {
				w.remove(i)
			}
		}
		w.now = far
		if drained {
			w.c.ordered, w.now = true, never
		}
		var order []int64
		for w.take(budget) {
			order = append(order, w.last)
		}
		require.Equal(t, map[bool][]int64{false: {far}, true: {far, far + 1, far + 2, beyond}}[drained], order)
		require.NoError(t, w.c.check())
	}
}

func (w *steps) run(steps int) {
	for range steps {
		ahead := !w.c.empty()
		w.step()
		require.NoError(w.t, w.c.check())
		if ahead && w.c.empty() && w.c.pending() {
			w.arrived++
		}
	}
	w.now = never
	if w.r.IntN(2) == 0 { // as Drain does
		w.c.ordered = true
		w.last = 0
		for last := int64(0); w.take(math.MaxInt); last = w.last {
			require.GreaterOrEqual(w.t, w.last, last, "out of order")
		}
	}
	w.takeAll(1 + w.r.IntN(5))
	require.Empty(w.t, w.live)
	require.Zero(w.t, w.c.arena.Len())
}

type steps struct {
	t    *testing.T
	r    *rand.Rand
	c    circles
	now  int64
	seq  uint64
	live map[uint32]int64 // deadlines

	near    int64 // 0, or how far deadlines lie ahead at most
	last    int64 // the deadline taken last
	arrived int   // how often a slot poured out ahead was come to
}

func newSteps(t *testing.T, r *rand.Rand) *steps {
	w := &steps{t: t, r: r, live: map[uint32]int64{}}
	w.c.layout = newLayout(time.Duration(1) << uint(r.IntN(40)))
	w.c.crowd, w.c.foreseen, w.c.pourTime = r.IntN(4), 1+r.IntN(6), 1<<uint(r.IntN(40))
	return w
}

func (w *steps) deadline() int64 {
	if w.near > 0 {
		return w.now + w.r.Int64N(w.near)
	}
	return deadlineAfter(w.now, delay(w.r))
}

// later is a time not too far from now.
func (w *steps) later() int64 {
	if w.near > 0 {
		return w.now + w.r.Int64N(w.near/8)
	}
	return deadlineAfter(w.now, time.Duration(w.r.Int64N(1<<uint(1+w.r.IntN(44)))))
}

func (w *steps) step() {
	switch op := w.r.IntN(10); {
	case op < 5:
		d := w.deadline()
		if w.r.IntN(8) == 0 {
			d = w.now - w.r.Int64N(w.now+1) // set by one who read the clock long ago
		}
		w.add(d)
	case op < 7 && len(w.live) > 0:
		i := w.any()
		w.seq++
		w.live[i] = w.deadline()
		w.c.move(i, w.c.arena.At(i), w.now, w.live[i], w.seq)
	case op < 8 && len(w.live) > 0:
		w.remove(w.any())
	case w.r.IntN(5) == 0:
		w.removeAhead()
	case op < 9:
		w.now = w.later()
		w.take(1 + w.r.IntN(6))
	default:
		w.takeAll(1 + w.r.IntN(6))
	}
}

func (w *steps) add(deadline int64) {
	w.seq++
	i := w.c.add(w.now, deadline, w.seq, 0)
	require.NotContains(w.t, w.live, i)
	w.live[i] = deadline
}

func (w *steps) remove(i uint32) {
	w.c.remove(i, w.c.arena.At(i))
	delete(w.live, i)
}

// removeAhead removes all that is poured out ahead of a circle, or waits for it.
func (w *steps) removeAhead() {
	chosen := w.r.IntN(3) // which of them, counted from the finest
	w.c.each(func(k int, a *ahead) bool {
		if chosen--; chosen >= 0 {
			return false
		}
		for _, i := range w.all() {
			if d := w.c.arena.At(i).Key; a.start <= d && d <= a.end {
				w.remove(i)
			}
		}
		return true
	})
}

// all is the nodes that are live, in order of their indexes.
func (w *steps) all() []uint32 { return slices.Sorted(maps.Keys(w.live)) }

func (w *steps) any() uint32 { return w.all()[w.r.IntN(len(w.live))] }

// take asks once and tells whether to ask again.
func (w *steps) take(budget int) bool {
	i, at := w.c.next(w.now, budget)
	if i == 0 {
		if at != 0 {
			require.Greater(w.t, at, w.now-b2i(w.now == never))
			for _, d := range w.live {
				require.GreaterOrEqual(w.t, d, at, "a deadline before what next promised")
			}
		}
		return at == 0
	}
	require.Contains(w.t, w.live, i)
	require.Equal(w.t, w.live[i], at)
	require.LessOrEqual(w.t, at, w.now, "early")
	w.last = at
	w.remove(i)
	return true
}

func (w *steps) takeAll(budget int) {
	for n := 0; w.take(budget); n++ {
		require.Less(w.t, n, 100_000, "no end")
	}
	for _, d := range w.live {
		require.Greater(w.t, d, w.now, "due and not found")
	}
}

// A whole crowd of one instant or of one ascending order fires where it is.
func TestCrowdInOrderIsNotCascaded(t *testing.T) {
	c := circles{layout: newLayout(time.Second)}
	for i := range uint64(10_000) {
		c.add(0, int64(time.Hour)+int64(i/100), i+1, 0)
	}
	for range 10_000 {
		i, _ := c.next(int64(2*time.Hour), budget)
		require.NotZero(t, i)
		c.remove(i, c.arena.At(i))
	}
	require.Zero(t, c.cascaded)
}

// A timer alone in its slot is aimed at exactly and fires from there, however
// far away it is.
func TestLoneTimerIsNotCascaded(t *testing.T) {
	c := circles{layout: newLayout(time.Second)}
	deadline := 3 * 365 * 24 * int64(time.Hour)
	c.add(0, deadline, 1, 0)
	i, at := c.next(1, budget)
	require.Zero(t, i)
	require.Equal(t, deadline, at)
	i, _ = c.next(deadline, budget)
	require.NotZero(t, i)
	require.Zero(t, c.cascaded)
}

// A timer comes down at most once per circle.
func TestCascadesAreFew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := circles{layout: newLayout(time.Second)}
	const n = 50_000
	for i := range uint64(n) {
		c.add(0, r.Int64N(int64(10*365*24*time.Hour)), i+1, 0)
	}
	at := int64(0)
	for fired := 0; fired < n; {
		i, next := c.next(at, budget)
		if i == 0 {
			at = max(at, next)
			continue
		}
		c.remove(i, c.arena.At(i))
		fired++
	}
	require.Less(t, c.cascaded, uint64(n*c.levels))
	t.Logf("%.2f cascades a timer over ten years", float64(c.cascaded)/n)
}
