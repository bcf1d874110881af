package expiration

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type testNode struct {
	id        int
	expiresAt int64
	dead      bool
	timer     hierarchy.Handle

	// What the wheel should know. It learns of expiresAt when the node is scheduled.
	scheduled bool
	due       int64
	order     int
}

func (n *testNode) ExpiresAt() int64         { return n.expiresAt }
func (n *testNode) IsAlive() bool            { return !n.dead }
func (n *testNode) Timer() *hierarchy.Handle { return &n.timer }

// program runs random calls on a wheel, and on a list of nodes.
type program struct {
	t      *testing.T
	random *rand.Rand
	wheel  *Wheel[*testNode]
	nodes  []*testNode
	now    int64
	order  int
}

func TestWheelAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := []int64{0, -int64(time.Hour), time.Now().UnixNano()}[seed%3]
		p := &program{t: t, random: r, wheel: NewWheel[*testNode](start), now: start}
		for range 200 {
			p.step()
			p.check()
		}
	}
}

func (p *program) step() {
	switch p.random.IntN(8) {
	case 0, 1, 2:
		p.nodes = append(p.nodes, &testNode{id: len(p.nodes), expiresAt: p.deadline()})
		p.schedule(p.nodes[len(p.nodes)-1])
	case 3: // a node is extended, and the wheel is told later, or never
		if n := p.some(); n != nil {
			n.expiresAt = max(n.expiresAt, p.deadline())
		}
	case 4:
		if n := p.some(); n != nil {
			n.expiresAt = p.deadline()
			p.schedule(n)
		}
	case 5:
		if n := p.some(); n != nil {
			n.dead = p.random.IntN(2) == 0
			p.schedule(n)
		}
	case 6:
		if n := p.some(); n != nil {
			p.wheel.Unschedule(n)
			n.scheduled = false
		}
	case 7:
		p.now += p.random.Int64N(int64(time.Minute))
		p.advance(1 + p.random.IntN(20))
	}
}

func (p *program) deadline() int64 {
	if p.random.IntN(20) == 0 {
		return math.MaxInt64
	}
	return p.now + p.random.Int64N(int64(3*time.Minute)) - int64(time.Minute)
}

func (p *program) some() *testNode {
	if len(p.nodes) == 0 {
		return nil
	}
	return p.nodes[p.random.IntN(len(p.nodes))]
}

func (p *program) schedule(n *testNode) {
	p.wheel.Schedule(n)
	p.known(n, n.expiresAt)
}

func (p *program) known(n *testNode, due int64) {
	p.order++
	n.scheduled, n.due, n.order = !n.dead, due, p.order
}

// advance lets the wheel offer what has expired. Some nodes are kept, as they are or
// extended, and sometimes it panics.
func (p *program) advance(limit int) {
	taken, panicked := 0, false
	more := func() bool {
		defer func() {
			if recover() != nil {
				panicked = true
			}
		}()
		return p.wheel.Advance(p.now, limit, func(n *testNode, now int64) bool {
			taken += p.skipped() + 1
			require.Equal(p.t, p.now, now)
			require.Equal(p.t, p.first(), n)
			switch p.random.IntN(8) {
			case 0:
				p.known(n, p.now+1)
				return false
			case 1:
				n.expiresAt = p.now + 1 + p.random.Int64N(int64(time.Minute))
				p.known(n, n.expiresAt)
				return false
			case 2:
				p.known(n, p.now+1)
				panic("expire")
			case 3: // removed by others, who will not schedule it
				n.dead = true
				p.known(n, 0)
				return false
			}
			n.dead, n.scheduled = true, false
			return true
		})
	}()
	if panicked {
		return
	}
	for taken < limit && p.skip() {
		taken++
	}
	require.Equal(p.t, taken == limit, more)
	if !more {
		require.Nil(p.t, p.first())
	}
}

// first is the node that the wheel comes to first, or nil if none is due.
func (p *program) first() *testNode {
	var due []*testNode
	for _, n := range p.nodes {
		if n.scheduled && n.due <= p.now {
			due = append(due, n)
		}
	}
	if len(due) == 0 {
		return nil
	}
	return slices.MinFunc(due, func(x, y *testNode) int {
		return cmp.Or(cmp.Compare(x.due, y.due), cmp.Compare(x.order, y.order))
	})
}

// skip schedules the first node again if it was extended. It is not offered.
func (p *program) skip() bool {
	n := p.first()
	if n == nil || n.expiresAt <= p.now {
		return false
	}
	p.known(n, n.expiresAt)
	return true
}

func (p *program) skipped() (nodes int) {
	for p.skip() {
		nodes++
	}
	return nodes
}

func (p *program) check() {
	var want, got []int
	for _, n := range p.nodes {
		if n.scheduled {
			want = append(want, n.id)
		}
	}
	for n := range p.wheel.All() {
		got = append(got, n.id)
	}
	require.ElementsMatch(p.t, want, got)
}

// TestAllStops checks that the loop over All may end early.
func TestAllStops(t *testing.T) {
	w := NewWheel[*testNode](0)
	for i := range 3 {
		w.Schedule(&testNode{id: i})
	}
	for n := range w.All() {
		w.Unschedule(n)
		break
	}
	require.Len(t, slices.Collect(w.All()), 2)
}

// TestEndsOfTime checks deadlines that are further from the start than a Duration can be.
func TestEndsOfTime(t *testing.T) {
	for _, start := range []int64{-5, 0, 5} {
		w := NewWheel[*testNode](start)
		last, first := &testNode{id: 1, expiresAt: math.MaxInt64}, &testNode{id: 2, expiresAt: math.MinInt64}
		w.Schedule(last)
		w.Schedule(first)
		var expired []int
		w.Advance(start+1, 10, func(n *testNode, _ int64) bool {
			expired = append(expired, n.id)
			n.dead = true
			return true
		})
		require.Equal(t, []int{2}, expired)
		require.Len(t, slices.Collect(w.All()), 1)
	}
}
