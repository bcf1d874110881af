package circles

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

var programs = flag.Int("programs", 40, "how many random programs are compared with the model")

// moment is a deadline and an order of setting.
type moment struct {
	deadline int64
	order    uint64
}

func (m moment) compare(n moment) int {
	return cmp.Or(cmp.Compare(m.deadline, n.deadline), cmp.Compare(m.order, n.order))
}

// program runs random calls on circles beside a model, which is a map.
type program struct {
	t     *testing.T
	r     *rand.Rand
	c     Circles
	exact bool // Next has no limit
	mixed bool // it has none now and then
	now   int64
	order uint64
	live  map[uint32]moment
	after uint64 // how much later in order each timer is
	crowd int    // how many timers are set at once, at most
	scale uint   // deadlines are some 1<<scale apart
}

func newProgram(t *testing.T, seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &program{t: t, r: r, live: map[uint32]moment{}, exact: r.IntN(2) == 0, scale: uint(r.IntN(46)), crowd: 1 + r.IntN(4), after: 1}
	layout := NewLayout(time.Duration(1) << uint(r.IntN(40)))
	tuning := Tuning{SortUpTo: r.IntN(5), LeadTime: 1 << uint(r.IntN(40)), WholeSlot: r.IntN(2) == 0}
	if r.IntN(4) == 0 {
		tuning.SortUpTo, p.crowd = 60, 200
	}
	p.mixed = !p.exact && r.IntN(4) == 0
	p.c.Init(layout, tuning, 0)
	p.c.Fetch(func(i uint32) { require.Contains(t, p.live, i) })
	return p
}

// deadline is mostly near now, on both sides, and sometimes at an end of time.
func (p *program) deadline() int64 {
	near := (p.r.Int64N(3) | p.r.Int64N(3)<<6 | p.r.Int64N(3)<<12) << p.scale // crowds on three circles
	switch p.r.IntN(10) {
	case 0:
		return math.MaxInt64 - p.r.Int64N(3)
	case 1:
		return math.MinInt64 + p.r.Int64N(3)
	case 2:
		return -near
	case 3, 4:
		return p.now - near
	case 5:
		return min(p.now, math.MaxInt64/2) + p.r.Int64N(1<<14)<<p.scale>>8
	}
	return min(p.now, math.MaxInt64/2) + near
}

// place is the moment of the timer that is set next.
func (p *program) place() moment {
	p.order += p.after
	return moment{p.deadline(), p.order}
}

func (p *program) any() uint32 { return slices.Sorted(maps.Keys(p.live))[p.r.IntN(len(p.live))] }

func (p *program) remove(i uint32) {
	p.c.Remove(i, p.c.arena.At(i))
	delete(p.live, i)
}

func (p *program) move(i uint32, to moment) {
	p.live[i] = to
	p.c.Move(i, p.c.arena.At(i), p.now, to.deadline, to.order)
}

func (p *program) step() {
	switch op := p.r.IntN(14); {
	case op < 4:
		m := p.place()
		for n := p.r.IntN(p.crowd); n >= 0; n-- {
			p.live[p.c.Add(p.now, m.deadline, m.order, 0)] = m
			if p.r.IntN(2) == 0 {
				m = p.place()
			} else {
				p.order += p.after
				m.order = p.order
			}
		}
	case op < 7 && len(p.live) > 0:
		for n := p.r.IntN(p.crowd); n >= 0; n-- {
			p.move(p.any(), p.place())
		}
	case op < 8 && len(p.live) > 0:
		for n := p.r.IntN(p.crowd); n >= 0 && len(p.live) > 0; n-- {
			p.remove(p.any())
		}
	case op < 9 && len(p.live) > 0:
		p.putAside(p.any())
	case op < 10:
		p.c.DealAhead(p.now, p.r.IntN(30))
	case op < 11:
		p.ask()
	default:
		p.advance()
		if p.r.IntN(4) == 0 {
			p.lookBack()
		}
		for range p.r.IntN(2 + 2*p.crowd) {
			p.next()
		}
	}
}

// putAside takes a timer out and sets it again, now or later.
func (p *program) putAside(i uint32) {
	n := p.c.arena.At(i)
	p.c.Unlink(n)
	require.NoError(p.t, p.c.Check())
	m := p.live[i]
	delete(p.live, i)
	for range p.r.IntN(3) {
		p.next()
	}
	p.live[i] = m
	p.move(i, p.place())
}

// advance lets time pass, often to the deadline of a timer.
func (p *program) advance() {
	if len(p.live) > 0 && p.r.IntN(2) == 0 {
		if at := p.live[p.any()].deadline; at < math.MaxInt64/2 {
			p.now = max(p.now, at)
			return
		}
	}
	p.now = min(p.now, math.MaxInt64/2) + p.r.Int64N(1<<13)<<p.scale>>p.r.IntN(14)
}

// lookBack has calls come with a time that is earlier than that of the call before.
func (p *program) lookBack() {
	now := p.now
	p.next()
	p.now -= p.r.Int64N(1 + p.now>>p.r.IntN(63))
	for range p.r.IntN(4) {
		p.next()
	}
	p.now = now
}

// earliest is the timer that comes first, or 0.
func (p *program) earliest() (best uint32) {
	for i, m := range p.live {
		if best == 0 || m.compare(p.live[best]) < 0 {
			best = i
		}
	}
	return best
}

// next compares what Next says, and takes the timer if it is due.
func (p *program) next() {
	budget := 1 + p.r.IntN(20)
	if p.exact || p.mixed && p.r.IntN(8) == 0 {
		budget = Unlimited
	}
	first := p.earliest()
	if budget == Unlimited && p.r.IntN(4) == 0 {
		p.nextDue(first)
	}
	v := p.c.Next(p.now, budget)
	switch v.State {
	case Empty:
		require.Zero(p.t, first)
	case NotBefore:
		require.Greater(p.t, v.At, p.now)
		if first != 0 || p.exact {
			require.LessOrEqual(p.t, v.At, p.live[first].deadline)
		}
	case Due:
		require.Contains(p.t, p.live, v.Node)
		require.Equal(p.t, p.live[v.Node].deadline, v.At)
		require.LessOrEqual(p.t, v.At, p.now, "early")
		if budget == Unlimited {
			require.Equal(p.t, first, v.Node)
		}
		p.remove(v.Node)
	case AskAgain:
		require.NotEqual(p.t, Unlimited, budget)
	}
}

// ask compares what Next says without a limit, whether other calls have one or not.
func (p *program) ask() {
	v, first := p.c.Next(p.now, Unlimited), p.earliest()
	if first == 0 {
		require.Equal(p.t, Empty, v.State)
		return
	}
	require.Equal(p.t, p.live[first].deadline, v.At)
	require.Equal(p.t, p.live[first].deadline, p.live[v.Node].deadline)
	require.Equal(p.t, v.At <= p.now, v.State == Due)
	if v.State == Due {
		require.Equal(p.t, first, v.Node)
	}
}

// nextDue compares what NextDue says. first is the timer that comes first.
func (p *program) nextDue(first uint32) {
	if p.live[first].deadline > p.now {
		first = 0
	}
	require.Equal(p.t, first, p.c.NextDue(p.now))
}

// Timers come in order of deadline and of setting, whatever was dealt ahead, and whether they have passed,
// are negative, or at an end of time. With a limit, no timer is early, lost or found twice, and no time is
// returned that is later than a timer's.
func TestPrograms(t *testing.T) {
	for seed := range uint64(*programs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newProgram(t, seed).run() })
	}
}

// The same holds if stale entries come to count again, as a node has the same stamp as one that was in
// its place long before.
func TestProgramsWhoseStampsComeBack(t *testing.T) {
	for seed := range uint64(*programs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProgram(t, seed)
			p.after = 1 << 24
			p.run()
		})
	}
}

func (p *program) run() {
	for range 250 {
		p.step()
		require.NoError(p.t, p.c.Check())
		p.checkSlots()
	}
	p.now = math.MaxInt64
	for n := len(p.live) * 1000; len(p.live) > 0; n-- {
		require.Positive(p.t, n, "Next never stops asking to be called again")
		p.next()
	}
	require.Zero(p.t, p.c.arena.Len())
}

// checkSlots checks that each timer is counted in one slot.
func (p *program) checkSlots() {
	inSlots := 0
	for k := range p.c.layout.Circles() {
		for s := range level.Slots {
			inSlots += p.c.InSlot(k, s)
		}
	}
	require.Equal(p.t, len(p.live), inSlots)
}
