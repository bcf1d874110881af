package circles

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
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

// delay returns a random delay. Most are near a power of two.
func delay(r *rand.Rand) time.Duration {
	switch r.IntN(12) {
	case 0:
		return time.Duration(endOfTime - r.Int64N(3))
	case 1, 2:
		return time.Duration(r.Int64N(int64(3 * time.Second)))
	case 3:
		return 5 * time.Millisecond // a fixed delay makes crowds of one instant
	}
	return time.Duration(int64(1)<<uint(r.IntN(45)) + r.Int64N(3) - 1)
}

// Under a real clock, circles work with a budget of nodes for each call. Cascades are
// interrupted anywhere, and timers are set, moved and removed while a cascade is half
// done. No timer may be early, lost or found twice, and in the end all due timers are
// found.
func TestCirclesInSmallSteps(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		newSteps(t, r).run(150)
	}
}

// The same holds with deadlines close to each other and to now, which make circles pour
// many slots ahead, completely or in part.
func TestCirclesAhead(t *testing.T) {
	arrived, gathered := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 4))
		w := newSteps(t, r)
		w.near = 1 << uint(8+r.IntN(12))
		w.tune(r.IntN(2), 1+r.IntN(3), r.IntN(10))
		w.c.tuning.SweepRatio = r.IntN(2) * 1 << 20 // always along the list, or always through the arena
		w.run(400)
		arrived += w.arrived
		gathered += w.gathered
	}
	require.Greater(t, arrived, 500)
	require.Greater(t, gathered, 10_000)
}

// After nearly all timers of a crowd were removed, the few that are left are poured along
// their list. A scan of the whole arena would take too long.
func TestCrowdScatteredOverAnArena(t *testing.T) {
	const crowd, left = 1_000_000, 10_000
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	var all []uint32
	for seq := range uint64(crowd) {
		all = append(all, c.Add(0, int64(100*time.Second)+r.Int64N(int64(time.Second)), seq+1, 0))
	}
	for n, i := range all {
		if n%(crowd/left) != 0 {
			c.Remove(i, c.arena.At(i))
		}
	}
	k, _, _ := c.nextCrowd()
	c.beginAhead(k)
	budgets := 0
	for c.circle[k].Len(c.ahead[k].slot) > 0 {
		c.pourAhead(k, c.ahead[k], batch)
		budgets++
	}
	require.LessOrEqual(t, budgets, left/batch+1)
}

// Two slots are poured ahead, and the nearer one is emptied again. The timers of the
// farther one must still come before timers beyond it.
func TestNearerOfTwoSlotsAheadIsEmptied(t *testing.T) {
	const near, far, beyond = 48 << 20, 5 << 30, 9 << 30
	for _, drained := range []bool{false, true} {
		w := newSteps(t, rand.New(rand.NewPCG(1, 1)))
		w.c.layout, w.c.gathers = NewLayout(time.Second), false
		w.tune(0, 2, 40)
		for _, deadline := range []int64{beyond, far + 2, far + 1, far, near + 1, near} {
			w.add(deadline)
		}
		w.take(batch)
		require.Equal(t, 2, bits.OnesCount32(w.c.active), "slots poured ahead")
		for i, deadline := range w.live {
			if deadline < far {
				w.remove(i)
			}
		}
		w.now = far
		if drained {
			w.now = endOfTime
			w.c.KeepOrder()
		}
		var order []int64
		for w.take(batch) {
			order = append(order, w.last)
		}
		require.Equal(t, map[bool][]int64{false: {far}, true: {far, far + 1, far + 2, beyond}}[drained], order)
		require.NoError(t, w.c.Check())
	}
}

func (w *steps) run(steps int) {
	for range steps {
		ahead := !w.c.aheadEmpty()
		w.step()
		require.NoError(w.t, w.c.Check())
		if ahead && w.c.aheadEmpty() && w.c.Linked() {
			w.arrived++
		}
	}
	w.now = endOfTime
	if w.r.IntN(2) == 0 { // as Drain does
		w.c.KeepOrder()
		w.last = 0
		for last := int64(0); w.take(math.MaxInt); last = w.last {
			require.GreaterOrEqual(w.t, w.last, last, "taken out of order")
		}
	}
	w.takeAll(1 + w.r.IntN(5))
	require.Empty(w.t, w.live)
	require.Zero(w.t, w.c.arena.Len())
}

type steps struct {
	t    *testing.T
	r    *rand.Rand
	c    Circles
	now  int64
	seq  uint64
	live map[uint32]int64 // deadlines

	near    int64 // 0, or how far ahead deadlines are at most
	last    int64 // the deadline taken last
	arrived int   // how often the hand came to a slot that was poured ahead

	gathered int // how many queues there were, added up over all calls of Next
}

// tune sets the sizes of crowds. A crowd is poured ahead 1<<pourTime nanoseconds per timer
// before its time.
func (w *steps) tune(sortUpTo, pourAheadFrom, pourTime int) {
	w.c.tuning.SortUpTo, w.c.tuning.PourAheadFrom = sortUpTo, pourAheadFrom
	w.c.tuning.PourTime = 1 << uint(pourTime)
	w.c.tuning.GatherUpTo = 1 << w.r.IntN(7)
}

func newSteps(t *testing.T, r *rand.Rand) *steps {
	w := &steps{t: t, r: r, live: map[uint32]int64{}}
	w.c.Init(NewLayout(time.Duration(1)<<uint(r.IntN(40))), DefaultTuning(), 0)
	w.tune(r.IntN(4), 1+r.IntN(6), r.IntN(40))
	if r.IntN(2) == 0 {
		w.c.GatherCrowds(func(i uint32) { require.Contains(t, w.live, i) })
	}
	return w
}

func (w *steps) deadline() int64 {
	if w.near > 0 {
		return w.now + w.r.Int64N(w.near)
	}
	return deadlineAfter(w.now, delay(w.r))
}

// later returns a time not too far from now.
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
			d = w.now - w.r.Int64N(w.now+1) // its caller read the clock long ago
		}
		w.add(d)
	case op < 7 && len(w.live) > 0:
		i := w.any()
		w.seq++
		w.live[i] = w.deadline()
		w.c.Move(i, w.c.arena.At(i), w.now, w.live[i], w.seq)
	case op < 8 && len(w.live) > 0:
		w.remove(w.any())
	case op < 9 && w.r.IntN(4) == 0 && len(w.live) > 0:
		w.putAside(w.any())
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
	i := w.c.Add(w.now, deadline, w.seq, 0)
	require.NotContains(w.t, w.live, i)
	w.live[i] = deadline
}

// putAside takes a timer out of its slot or queue, and sets it again now or later.
func (w *steps) putAside(i uint32) {
	n := w.c.arena.At(i)
	w.c.Unlink(n)
	require.NoError(w.t, w.c.Check())
	for range w.r.IntN(3) {
		w.c.Next(w.now, 1)
	}
	w.seq++
	w.live[i] = w.deadline()
	w.c.Move(i, n, w.now, w.live[i], w.seq)
}

func (w *steps) remove(i uint32) {
	w.c.Remove(i, w.c.arena.At(i))
	delete(w.live, i)
}

// removeAhead removes the timers of one slot that is being poured ahead, those already
// poured and those still in the slot.
func (w *steps) removeAhead() {
	chosen := w.r.IntN(3) // which slot, counted from the finest circle
	w.c.eachAhead(func(k int, a *ahead) bool {
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

// all returns the indexes of live nodes in ascending order.
func (w *steps) all() []uint32 { return slices.Sorted(maps.Keys(w.live)) }

func (w *steps) any() uint32 { return w.all()[w.r.IntN(len(w.live))] }

// take calls Next once and reports whether to call it again.
func (w *steps) take(budget int) bool {
	v := Verdict{}
	if w.c.inOrder {
		v = w.c.NextInOrder(w.now)
	} else {
		v = w.c.Next(w.now, budget)
	}
	w.gathered += len(w.c.queues)
	switch v.State {
	case NotBefore:
		require.Greater(w.t, v.At, w.now)
		bound := w.c.Bound(v.At, w.r.IntN(20))
		require.GreaterOrEqual(w.t, bound, v.At)
		for _, d := range w.live {
			require.GreaterOrEqual(w.t, d, bound, "a deadline is before the bound that Next returned")
		}
	case Empty:
		require.Empty(w.t, w.live)
	}
	if v.State != Due {
		return v.State == AskAgain
	}
	i, at := v.Node, v.At
	require.Contains(w.t, w.live, i)
	require.Equal(w.t, w.live[i], at)
	require.LessOrEqual(w.t, at, w.now, "early")
	w.last = at
	w.remove(i)
	return true
}

func (w *steps) takeAll(budget int) {
	for n := 0; w.take(batch); n++ {
		require.Less(w.t, n, 100_000, "Next never stops asking to be called again")
	}
	for _, d := range w.live {
		require.Greater(w.t, d, w.now, "a due timer was not found")
	}
}

// A crowd of one instant, or one set in ascending order, is not cascaded.
func TestCrowdInOrderIsNotCascaded(t *testing.T) {
	c := newCircles(time.Second)
	for i := range uint64(10_000) {
		c.Add(0, int64(time.Hour)+int64(i/100), i+1, 0)
	}
	for range 10_000 {
		v := c.Next(int64(2*time.Hour), batch)
		require.Equal(t, Due, v.State)
		c.Remove(v.Node, c.arena.At(v.Node))
	}
	require.Zero(t, c.Cascaded())
}

// The deadline of a timer alone in its slot is known exactly, and the timer fires from
// that slot, however far away its deadline is.
func TestLoneTimerIsNotCascaded(t *testing.T) {
	c := newCircles(time.Second)
	deadline := 3 * 365 * 24 * int64(time.Hour)
	i := c.Add(0, deadline, 1, 0)
	require.Equal(t, Verdict{State: NotBefore, Node: i, At: deadline}, c.Next(1, batch))
	require.Equal(t, Due, c.Next(deadline, batch).State)
	require.Zero(t, c.Cascaded())
}

// A timer is cascaded at most once per circle.
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
