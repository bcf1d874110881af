package hierarchy

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
)

// pending is a timer of the model of Driven, which is a list.
type pending struct {
	id     int
	due    time.Duration
	order  int // of setting
	handle Handle
}

// drivenRun runs a random program on a Driven and on its model side by side.
type drivenRun struct {
	t      *testing.T
	c      chooser
	wheel  Driven[int]
	ref    []pending
	now    time.Duration
	scale  uint // deadlines are some 1<<scale apart
	orders int
	depth  int // of loops
	inside int // steps in bodies so far
	dead   []Handle
	trace  []string
	tuning circles.Tuning
}

func newDrivenRun(t *testing.T, c chooser) *drivenRun {
	r := &drivenRun{t: t, c: c, scale: uint(c.IntN(62)), tuning: circles.DefaultTuning()}
	r.tuning.SortUpTo = c.IntN(6)
	r.tuning.LeadTime = 1 << uint(c.IntN(30))
	r.tuning.WholeSlot = c.IntN(2) == 0
	r.tune()
	return r
}

// tune makes a few timers a crowd.
func (r *drivenRun) tune() {
	if r.wheel.timers == nil {
		r.wheel.timers = timers.New[int](drivenLayout, r.tuning, r.wheel.now)
		r.wheel.timers.Fetch(r.wheel.timers.Touch)
	}
}

// due is a random deadline: most are near others, some passed, negative or huge.
func (r *drivenRun) due() time.Duration {
	near := time.Duration(r.c.IntN(16)) << r.scale >> 2
	switch r.c.IntN(16) {
	case 0:
		return math.MaxInt64 - time.Duration(r.c.IntN(3))
	case 1:
		return math.MinInt64 + time.Duration(r.c.IntN(3))
	case 2:
		return -near
	case 3:
		return r.now - near
	case 4:
		return r.now
	case 5:
		return time.Duration(1_800_000_000)*time.Second + near // an instant since the Unix epoch
	}
	return min(r.now, math.MaxInt64/2) + near
}

func (r *drivenRun) run(steps int) []string {
	for range steps {
		r.step()
	}
	r.expire(math.MaxInt64, math.MaxInt)
	require.Zero(r.t, r.wheel.Len())
	return r.trace
}

func (r *drivenRun) step() {
	switch op := r.c.IntN(16); {
	case op < 6:
		r.set()
	case op < 8:
		r.move()
	case op < 10:
		r.remove()
	case op == 10:
		r.wheel.unseen = r.c.IntN(2) * manyNew
		r.wheel.popped = r.c.IntN(2) * prepareEvery
		r.wheel.timers.CascadeAhead(int64(r.now), r.c.IntN(5))
	case op == 11 && r.depth < 2:
		r.all()
	case op < 14 && r.depth < 2:
		later := time.Duration(r.c.IntN(8)) << r.scale >> 2
		r.expire(max(r.now-5, min(r.now, math.MaxInt64/2)+later), 1+r.c.IntN(6))
	default:
		r.misuse()
	}
	r.check()
}

func (r *drivenRun) set() {
	r.orders++
	p := pending{id: r.orders, due: r.due(), order: r.orders}
	p.handle = r.wheel.Set(p.id, p.due)
	r.ref = append(r.ref, p)
}

func (r *drivenRun) move() {
	if len(r.ref) > 0 {
		r.orders++
		p := &r.ref[r.c.IntN(len(r.ref))]
		p.due, p.order = r.due(), r.orders
		require.True(r.t, r.wheel.Move(p.handle, p.due))
	}
}

func (r *drivenRun) remove() {
	if len(r.ref) > 0 {
		at := r.c.IntN(len(r.ref))
		p := r.ref[at]
		id, ok := r.wheel.Remove(p.handle)
		require.True(r.t, ok)
		require.Equal(r.t, p.id, id)
		r.gone(at)
	}
}

func (r *drivenRun) gone(at int) {
	r.dead = append(r.dead, r.ref[at].handle)
	r.ref = slices.Delete(r.ref, at, at+1)
	r.tune()
}

// misuse uses handles that name nothing.
func (r *drivenRun) misuse() {
	handles := append([]Handle{{}, {generation: 1 << 60, index: 1}}, r.dead...)
	for _, h := range handles[max(0, len(handles)-5):] {
		_, ok := r.wheel.Remove(h)
		require.False(r.t, ok)
		require.False(r.t, r.wheel.Move(h, 5))
		_, _, ok = r.wheel.Get(h)
		require.False(r.t, ok)
	}
}

// earliest is the place of the timer that comes first, or -1.
func (r *drivenRun) earliest() int {
	best := -1
	for at, p := range r.ref {
		if best < 0 || cmp.Or(cmp.Compare(p.due, r.ref[best].due), cmp.Compare(p.order, r.ref[best].order)) < 0 {
			best = at
		}
	}
	return best
}

// expire lets the loop run for some timers, and does random things in its body.
func (r *drivenRun) expire(now time.Duration, most int) {
	r.now = max(r.now, now)
	limit := r.now
	ended := true
	for id, due := range r.wheel.Expire(now) {
		at := r.earliest()
		require.GreaterOrEqual(r.t, at, 0)
		require.Equal(r.t, r.ref[at].id, id)
		require.Equal(r.t, r.ref[at].due, due)
		require.LessOrEqual(r.t, due, limit)
		r.trace = append(r.trace, fmt.Sprint(id, due))
		r.gone(at)
		r.inBody()
		if most--; most == 0 {
			ended = false
			break
		}
	}
	if at := r.earliest(); ended && at >= 0 {
		require.Greater(r.t, r.ref[at].due, limit, "a timer that was due did not come")
	}
	r.tune()
}

func (r *drivenRun) inBody() {
	r.check()
	r.depth++
	for range r.c.IntN(3) {
		if r.inside++; r.inside < 200 { // else loops in loops would not end
			r.step()
		}
	}
	r.depth--
}

// all goes over all timers, and does random things in the body.
func (r *drivenRun) all() {
	before := slices.Clone(r.ref)
	came := map[int]int{}
	for id, due := range r.wheel.All() {
		came[id]++
		require.Equal(r.t, 1, came[id], "came twice")
		at := slices.IndexFunc(r.ref, func(p pending) bool { return p.id == id })
		require.GreaterOrEqual(r.t, at, 0)
		require.Equal(r.t, r.ref[at].due, due)
		if r.c.IntN(8) == 0 {
			r.inBody()
		}
	}
	for _, p := range before {
		if slices.ContainsFunc(r.ref, func(q pending) bool { return q.id == p.id }) {
			require.Equal(r.t, 1, came[p.id], "stayed and did not come")
		}
		delete(came, p.id)
	}
	require.Empty(r.t, came, "set meanwhile")
}

func (r *drivenRun) check() {
	require.NoError(r.t, r.wheel.timers.Check())
	require.Equal(r.t, len(r.ref), r.wheel.Len())
	due, ok := r.wheel.Next()
	at := r.earliest()
	require.Equal(r.t, at >= 0, ok)
	if ok {
		require.Equal(r.t, r.ref[at].due, due)
	}
	for _, p := range r.ref[max(0, len(r.ref)-3):] {
		id, due, ok := r.wheel.Get(p.handle)
		require.True(r.t, ok)
		require.Equal(r.t, p.id, id)
		require.Equal(r.t, p.due, due)
	}
}

func TestDrivenAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		r := newDrivenRun(t, rand.New(rand.NewPCG(seed, 5)))
		r.run(100)
	}
}

// The same calls give the same trace.
func TestDrivenIsDeterministic(t *testing.T) {
	trace := func() []string { return newDrivenRun(t, rand.New(rand.NewPCG(1, 6))).run(300) }
	first := trace()
	require.NotEmpty(t, first)
	require.Equal(t, first, trace())
}

// FuzzDriven makes the choices of a program from bytes.
func FuzzDriven(f *testing.F) {
	f.Add([]byte("a wheel without lock, clock and goroutine"))
	f.Add([]byte{1, 2, 3, 200, 100, 50, 25, 12, 6, 3, 1, 0, 255, 254, 253})
	f.Fuzz(func(t *testing.T, program []byte) {
		newDrivenRun(t, &bytesChooser{program}).run(min(len(program), 200))
	})
}
