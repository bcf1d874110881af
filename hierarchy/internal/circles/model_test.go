package circles

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

var programs = flag.Int("programs", 40, "how many random programs are compared with the model")
var firstSeed = flag.Uint64("seed", 0, "of the first of them")

// moment is a deadline and an order of setting.
type moment struct {
	deadline int64
	order    uint64
}

func (m moment) compare(n moment) int {
	return cmp.Or(cmp.Compare(m.deadline, n.deadline), cmp.Compare(m.order, n.order))
}

// model is what should be in circles: timers in no order.
type model struct {
	moments []moment
	nodes   []uint32       // whose moments they are
	at      map[uint32]int // where a node is in nodes
}

func (m *model) has(i uint32) bool { _, ok := m.at[i]; return ok }

func (m *model) of(i uint32) moment { return m.moments[m.at[i]] }

func (m *model) set(i uint32, to moment) {
	if at, ok := m.at[i]; ok {
		m.moments[at] = to
		return
	}
	m.at[i] = len(m.nodes)
	m.moments, m.nodes = append(m.moments, to), append(m.nodes, i)
}

func (m *model) remove(i uint32) {
	at, last := m.at[i], len(m.nodes)-1
	m.moments[at], m.nodes[at] = m.moments[last], m.nodes[last]
	m.at[m.nodes[at]] = at
	m.moments, m.nodes = m.moments[:last], m.nodes[:last]
	delete(m.at, i)
}

// earliest is the timer that comes first, or 0.
func (m *model) earliest() (node uint32) {
	best := moment{}
	for at, x := range m.moments {
		if node == 0 || x.compare(best) < 0 {
			node, best = m.nodes[at], x
		}
	}
	return node
}

// program runs random calls on circles beside a model.
type program struct {
	t     *testing.T
	r     *rand.Rand
	c     Circles
	exact bool // Next has no limit
	mixed bool // it has none now and then
	now   int64
	order uint64
	live  model
	done  int    // how many calls were compared
	after uint64 // how much later in order each timer is
	crowd int    // how many timers are set at once, at most
	scale uint   // deadlines are some 1<<scale apart
}

func newProgram(t *testing.T, seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &program{t: t, r: r, live: model{at: map[uint32]int{}}, exact: r.IntN(2) == 0, scale: uint(r.IntN(46)), crowd: 1 + r.IntN(4), after: 1}
	layout := NewLayout(time.Duration(1) << uint(r.IntN(40)))
	tuning := Tuning{SortUpTo: r.IntN(5), LeadTime: 1 << uint(r.IntN(40)), WholeSlot: r.IntN(2) == 0}
	if r.IntN(4) == 0 {
		tuning.SortUpTo, p.crowd = 60, 200
	}
	p.mixed = !p.exact && r.IntN(4) == 0
	p.c.Init(layout, tuning, 0)
	p.c.Fetch(func(nodes []uint32) {
		for _, i := range nodes {
			p.require(p.live.has(i), "Fetch of no timer")
		}
	})
	return p
}

// require is require.True. It takes no time, as a model makes many calls.
func (p *program) require(ok bool, what string) {
	if !ok {
		p.t.Helper()
		p.t.Fatalf("%s, at %d", what, p.now)
	}
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

func (p *program) any() uint32 { return p.live.nodes[p.r.IntN(len(p.live.nodes))] }

func (p *program) remove(i uint32) {
	p.done++
	p.c.Remove(i, p.c.arena.At(i))
	p.live.remove(i)
}

func (p *program) move(i uint32, to moment) {
	p.done++
	p.live.set(i, to)
	p.c.Move(i, p.c.arena.At(i), p.now, to.deadline, to.order)
}

func (p *program) step() {
	switch op := p.r.IntN(14); {
	case op < 4:
		m := p.place()
		for n := p.r.IntN(p.crowd); n >= 0; n-- {
			p.done++
			p.live.set(p.c.Add(p.now, m.deadline, m.order, 0), m)
			if p.r.IntN(2) == 0 {
				m = p.place()
			} else {
				p.order += p.after
				m.order = p.order
			}
		}
	case op < 7 && len(p.live.nodes) > 0:
		for n := p.r.IntN(p.crowd); n >= 0; n-- {
			p.move(p.any(), p.place())
		}
	case op < 8 && len(p.live.nodes) > 0:
		for n := p.r.IntN(p.crowd); n >= 0 && len(p.live.nodes) > 0; n-- {
			p.remove(p.any())
		}
	case op < 9 && len(p.live.nodes) > 0:
		p.putAside(p.any())
	case op < 10:
		p.c.CascadeAhead(p.now, p.r.IntN(30))
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
	m := p.live.of(i)
	p.live.remove(i)
	for range p.r.IntN(3) {
		p.next()
	}
	p.live.set(i, m)
	p.move(i, p.place())
}

// advance lets time pass, often to the deadline of a timer.
func (p *program) advance() {
	if len(p.live.nodes) > 0 && p.r.IntN(2) == 0 {
		if at := p.live.of(p.any()).deadline; at < math.MaxInt64/2 {
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

// next compares what Next says, and takes the timer if it is due.
func (p *program) next() {
	p.done++
	budget := 1 + p.r.IntN(20)
	if p.exact || p.mixed && p.r.IntN(8) == 0 {
		budget = Unlimited
	}
	first := p.live.earliest()
	if budget == Unlimited && p.r.IntN(4) == 0 {
		p.nextDue(first)
	}
	v := p.c.Next(p.now, budget)
	switch v.State {
	case Empty:
		p.require(first == 0, "timers are lost")
	case NotBefore:
		p.require(v.At > p.now, "a time that has passed")
		if first != 0 || p.exact {
			p.require(first != 0 && v.At <= p.live.of(first).deadline, "a time after a deadline")
		}
	case Due:
		p.require(p.live.has(v.Node) && p.live.of(v.Node).deadline == v.At, "no timer's deadline")
		p.require(v.At <= p.now, "early")
		p.require(budget != Unlimited || first == v.Node, "out of order")
		p.remove(v.Node)
	case AskAgain:
		p.require(budget != Unlimited, "not found without a limit")
	}
}

// ask compares what Next says without a limit, whether other calls have one or not.
func (p *program) ask() {
	p.done++
	v, first := p.c.Next(p.now, Unlimited), p.live.earliest()
	if first == 0 {
		p.require(v.State == Empty, "more than there is")
		return
	}
	p.require(v.At == p.live.of(first).deadline && v.At == p.live.of(v.Node).deadline, "not the earliest deadline")
	p.require((v.State == Due) == (v.At <= p.now), "due at the wrong time")
	p.require(v.State != Due || v.Node == first, "out of order")
}

// nextDue compares what NextDue says. first is the timer that comes first.
func (p *program) nextDue(first uint32) {
	p.done++
	if first != 0 && p.live.of(first).deadline > p.now {
		first = 0
	}
	p.require(p.c.NextDue(p.now) == first, "not what is due first")
}

// Timers come in order of deadline and of setting, whatever was cascaded ahead, and whether they have passed,
// are negative, or at an end of time. With a limit, no timer is early, lost or found twice, and no time is
// returned that is later than a timer's.
func TestPrograms(t *testing.T) {
	runPrograms(t, 1)
}

// The same holds if stale entries come to count again, as a node has the same stamp as one that was in
// its place long before.
func TestProgramsWhoseStampsComeBack(t *testing.T) {
	runPrograms(t, 1<<24)
}

func runPrograms(t *testing.T, after uint64) {
	done := 0
	for seed := range uint64(*programs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProgram(t, *firstSeed+seed)
			p.after = after
			p.run()
			done += p.done
		})
	}
	t.Logf("%d calls", done)
}

func (p *program) run() {
	for range 250 {
		hand := p.c.hand
		p.step()
		require.GreaterOrEqual(p.t, p.c.hand, hand)
		require.NoError(p.t, p.c.Check())
		p.checkSlots()
	}
	p.now = math.MaxInt64
	for n := len(p.live.nodes) * 1000; len(p.live.nodes) > 0; n-- {
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
	require.Equal(p.t, len(p.live.nodes), inSlots)
}
