package circles

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

// ordered runs a random program on circles that keep order, beside a model.
type ordered struct {
	t       *testing.T
	r       *rand.Rand
	c       Circles
	now     int64
	seq     uint64
	live    map[uint32]moment
	patient bool            // crowds are gathered and poured ahead in small portions, and never at once
	touched map[uint64]bool // orders
	scale   uint            // deadlines are some 1<<scale apart
	far     bool            // low bits of orders do not always tell which is first
}

// moment is a deadline and an order of setting.
type moment struct {
	deadline int64
	order    uint64
}

func (m moment) compare(n moment) int {
	return cmp.Or(cmp.Compare(m.deadline, n.deadline), cmp.Compare(m.order, n.order))
}

func newOrdered(t *testing.T, r *rand.Rand) *ordered {
	o := &ordered{t: t, r: r, live: map[uint32]moment{}, touched: map[uint64]bool{}, scale: uint(r.IntN(46))}
	tuning := Tuning{SortUpTo: r.IntN(4), PourAheadFrom: 1 + r.IntN(6), GatherUpTo: r.IntN(20), PourTime: 1 << uint(r.IntN(56)), SweepRatio: 1 << r.IntN(20)}
	o.patient, o.far = r.IntN(2) == 0, r.IntN(4) == 0
	if o.patient {
		tuning.GatherUpTo, tuning.PourAheadFrom = 1+r.IntN(5), 1+r.IntN(2)
	}
	o.c.Init(NewLayout(time.Duration(1)<<uint(r.IntN(40))).Signed(), tuning, 0)
	o.c.KeepOrder()
	o.c.GatherCrowds(func(i uint32) { o.touched[o.c.arena.At(i).Order()] = true })
	return o
}

// deadline is mostly near now, on both sides, and sometimes at an end of time.
func (o *ordered) deadline() int64 {
	if o.patient && o.now < math.MaxInt64/2 {
		return o.now + o.r.Int64N(1<<o.r.IntN(14))<<o.scale>>6
	}
	near := (o.r.Int64N(3) | o.r.Int64N(3)<<6 | o.r.Int64N(3)<<12) << o.scale // crowds on three circles
	switch o.r.IntN(10) {
	case 0:
		return math.MaxInt64 - o.r.Int64N(3)
	case 1:
		return math.MinInt64 + o.r.Int64N(3)
	case 2:
		return -near
	case 3, 4:
		return o.now - near
	}
	return min(o.now, math.MaxInt64/2) + near
}

// place is the moment of the timer that is set next.
func (o *ordered) place() moment {
	o.seq++
	if o.far && o.r.IntN(8) == 0 {
		o.seq += 1 << (28 + o.r.IntN(6))
	}
	return moment{o.deadline(), o.seq}
}

func (o *ordered) step() {
	switch op := o.r.IntN(12); {
	case op < 5:
		m := o.place()
		o.live[o.c.Add(o.now, m.deadline, m.order, 0)] = m
	case op < 7 && len(o.live) > 0:
		i := o.any()
		o.live[i] = o.place()
		o.c.Move(i, o.c.arena.At(i), o.now, o.live[i].deadline, o.live[i].order)
	case op < 8 && len(o.live) > 0:
		o.remove(o.any())
	case op < 9 && !o.patient:
		o.c.PourAhead(o.now, o.r.IntN(30))
		o.c.GatherDue(o.now - o.r.Int64N(3)<<o.scale)
	case op < 10 && !o.patient:
		require.Equal(o.t, o.earliest(), o.c.Earliest())
	default:
		o.advance()
		for range o.r.IntN(6) {
			o.next()
		}
	}
	if o.patient {
		for range o.r.IntN(4) {
			o.c.PourAhead(o.now, 1+o.r.IntN(3))
		}
	}
	require.NoError(o.t, o.c.Check())
	inSlots := 0
	for k := range o.c.layout.count {
		for s := range level.Slots {
			inSlots += o.c.InSlot(k, s)
		}
	}
	o.c.arena.Each(func(_ uint32, n *level.Node) {
		require.NotEqual(o.t, level.Unlinked, n.Circle())
	})
	require.Equal(o.t, len(o.live), inSlots)
}

// advance lets time pass, often to the deadline of a timer.
func (o *ordered) advance() {
	if o.patient {
		if at := o.live[o.earliest()].deadline; at > o.now {
			o.now += (at - o.now) >> (o.r.IntN(4) % 3) // all the way in two of four
		}
		return
	}
	if len(o.live) > 0 && o.r.IntN(2) == 0 {
		if at := o.live[o.any()].deadline; at < math.MaxInt64/2 {
			o.now = max(o.now, at)
			return
		}
	}
	o.now = min(o.now, math.MaxInt64/2) + o.r.Int64N(1<<13)<<o.scale>>o.r.IntN(14)
}

func (o *ordered) any() uint32 { return slices.Sorted(maps.Keys(o.live))[o.r.IntN(len(o.live))] }

func (o *ordered) remove(i uint32) {
	o.c.Remove(i, o.c.arena.At(i))
	delete(o.live, i)
}

// earliest is the timer that comes first, or 0.
func (o *ordered) earliest() (best uint32) {
	for i, m := range o.live {
		if best == 0 || m.compare(o.live[best]) < 0 {
			best = i
		}
	}
	return best
}

// next compares what Next says, and takes the timer if it is due.
func (o *ordered) next() {
	v, first := o.c.NextInOrder(o.now), o.earliest()
	switch {
	case first == 0:
		require.Equal(o.t, Empty, v.State)
	case o.live[first].deadline <= o.now:
		require.Equal(o.t, Verdict{Due, first, o.live[first].deadline}, v)
		o.remove(first)
	default:
		require.Equal(o.t, NotBefore, v.State)
		require.Greater(o.t, v.At, o.now)
		require.LessOrEqual(o.t, v.At, o.live[first].deadline)
	}
}

// Where order is kept, timers come in order of deadline and of setting, whatever was
// poured ahead, and whether they have passed, are negative, or at an end of time.
func TestOrderedCircles(t *testing.T) {
	for seed := range uint64(1000) {
		o := newOrdered(t, rand.New(rand.NewPCG(seed, 7)))
		for range 200 {
			o.step()
		}
		for o.now = math.MaxInt64; len(o.live) > 0; {
			o.next()
		}
	}
}

// The slots of signed circles divide all times, negative ones first.
func TestSignedLayout(t *testing.T) {
	times := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 62, -1, 0, 1, 1 << 62, math.MaxInt64}
	for e := range 63 {
		l := NewLayout(1 << e).Signed()
		require.LessOrEqual(t, l.count, maxCircles)
		for n, at := range times {
			for _, hand := range times {
				k := l.CircleFor(at, hand)
				require.Less(t, k, l.count)
				s := l.SlotFor(k, at)
				start := l.SlotStart(k, s, hand)
				require.LessOrEqual(t, start, at)
				require.GreaterOrEqual(t, l.SlotEnd(k, start), at)
			}
			if n > 0 {
				k := l.CircleFor(times[n-1], at)
				require.Less(t, l.SlotFor(k, times[n-1]), l.SlotFor(k, at))
				require.LessOrEqual(t, l.commonStart(times[n-1], at), times[n-1])
			}
		}
	}
}

// Timers of one instant stay in the order in which they were set, also while they are
// poured ahead. So however many they are, none has to be sorted.
func TestPouringAheadKeepsTheOrderOfSetting(t *testing.T) {
	const instant, early = int64(5*time.Second + 5), int64(time.Second)
	c := newCircles(time.Second)
	c.KeepOrder()
	seq := uint64(0)
	add := func(deadline int64) {
		seq++
		c.Add(early, deadline, seq, 0)
	}
	for n := range int64(3 * c.tuning.PourAheadFrom) {
		add(instant)
		add(instant + 1 + n*7919%int64(time.Second/4))
	}
	for range 1000 {
		c.PourAhead(instant, 5)
		add(instant)
	}
	poured, order := 0, uint64(0)
	inOrder := func(_ uint32, n *level.Node) {
		if n.Key == instant {
			require.Greater(t, n.Order(), order)
			order = n.Order()
			poured++
		}
	}
	c.eachAhead(func(k int, a *ahead) bool {
		a.Each(&c.arena, c.layout.SlotFor(k-1, instant), inOrder)
		require.Greater(t, poured, 1000, "too few to prove anything")
		c.circle[k].Each(&c.arena, a.slot, inOrder)
		return false
	})
	require.Equal(t, 3*c.tuning.PourAheadFrom+1000, poured)
}

// A crowd that lies close together, in a slot that is much wider, is spread out when that
// is opened: not poured from circle to circle as one.
func TestHandJumpsToACrowdThatLiesCloseTogether(t *testing.T) {
	const n, epoch = 10_000, int64(1_800_000_000_000_000_000)
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	c.KeepOrder()
	for i := range uint64(n) {
		c.Add(0, epoch+r.Int64N(int64(time.Minute)), i+1, 0)
	}
	for left := n; left > 0; left-- {
		v := c.Next(epoch+int64(time.Minute), math.MaxInt)
		require.Equal(t, Due, v.State)
		c.Remove(v.Node, c.arena.At(v.Node))
	}
	require.Less(t, c.Cascaded(), uint64(3*n))
}

// Earliest goes through a crowd once: later calls find it poured ahead and sorted, however
// many of its timers go.
func TestEarliestPoursACrowdOnce(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	c.KeepOrder()
	for i := range uint64(n) {
		c.Add(0, int64(100*time.Second)+r.Int64N(int64(time.Second)/2), i+1, 0)
	}
	for range n / 100 {
		i := c.Earliest()
		require.NotZero(t, c.active)
		c.Remove(i, c.arena.At(i))
	}
	require.LessOrEqual(t, c.Cascaded(), uint64(2*n))
}
