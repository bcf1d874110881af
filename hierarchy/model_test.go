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

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// model is the reference implementation: an unsorted list of timers.
type model struct {
	now    int64
	order  int
	timers []modelTimer
	fired  []string
	spawn  func(id int) (delay time.Duration, ok bool) // what a callback sets
	ids    int
}

type modelTimer struct {
	id       int
	key      int
	deadline int64
	order    int
}

func (m *model) set(key int, d time.Duration) int {
	m.ids++
	m.order++
	m.timers = append(m.timers, modelTimer{m.ids, key, engine.DeadlineAfter(m.now, d), m.order})
	return m.ids
}

func (m *model) find(id int) int {
	return slices.IndexFunc(m.timers, func(t modelTimer) bool { return t.id == id })
}

func (m *model) findKey(key int) int {
	return slices.IndexFunc(m.timers, func(t modelTimer) bool { return t.key == key })
}

func (m *model) remove(i int) { m.timers = slices.Delete(m.timers, i, i+1) }

func (m *model) reset(i int, d time.Duration) {
	m.order++
	m.timers[i].deadline, m.timers[i].order = engine.DeadlineAfter(m.now, d), m.order
}

func (m *model) sorted() []modelTimer {
	return slices.SortedFunc(slices.Values(m.timers), func(x, y modelTimer) int {
		return cmp.Or(cmp.Compare(x.deadline, y.deadline), cmp.Compare(x.order, y.order))
	})
}

func (m *model) next() (modelTimer, bool) {
	if len(m.timers) == 0 {
		return modelTimer{}, false
	}
	return slices.MinFunc(m.timers, func(x, y modelTimer) int {
		return cmp.Or(cmp.Compare(x.deadline, y.deadline), cmp.Compare(x.order, y.order))
	}), true
}

// add moves time and fires the timers that fall due on the way.
func (m *model) add(d time.Duration) {
	target := engine.DeadlineAfter(m.now, d)
	for {
		t, ok := m.next()
		if !ok || t.deadline > target {
			break
		}
		m.now = max(m.now, t.deadline)
		m.remove(m.find(t.id))
		m.fired = append(m.fired, firing(t.id, m.now))
		if d, ok := m.spawn(t.id); ok {
			m.set(0, d)
		}
	}
	m.now = target
}

func firing(id int, at int64) string { return fmt.Sprintf("%d at %d", id, at) }

// chooser makes the choices of a random program.
type chooser interface {
	IntN(n int) int
	Int64N(n int64) int64
}

// delay returns a random delay. Most are near a power of two.
func delay(c chooser) time.Duration {
	switch c.IntN(12) {
	case 0:
		return time.Duration(-c.Int64N(5))
	case 1:
		return math.MaxInt64 - time.Duration(c.Int64N(3))
	case 2, 3:
		return time.Duration(c.Int64N(int64(3 * time.Second)))
	case 4:
		return 5 * time.Millisecond // a fixed delay makes crowds of one instant
	}
	return time.Duration(int64(1)<<uint(c.IntN(45)) + c.Int64N(3) - 1)
}

// step returns how far a program moves time at once. Rarely, that is to the end of time.
func step(c chooser) time.Duration {
	if c.IntN(300) == 0 {
		return math.MaxInt64
	}
	return time.Duration(c.Int64N(1 << uint(1+c.IntN(46))))
}

var precisions = []time.Duration{1, 30, time.Microsecond, time.Millisecond, 7 * time.Second}

// crowds are values for SortUpTo. Larger lists are cascaded, so short programs need small
// values to cascade.
var crowds = []int{0, 1, 3, circles.DefaultTuning().SortUpTo}

// config returns a random configuration with a mock.
func config(c chooser, m *clock.Mock) Config {
	cfg := Config{Clock: m, Shards: 1 + c.IntN(8), Precision: precisions[c.IntN(len(precisions))]}
	if c.IntN(2) == 0 {
		cfg.Interval = max(cfg.Precision, time.Duration(1)<<uint(c.IntN(40)))
	}
	return cfg
}

// spawner makes some callbacks set a timer.
func spawner(seed int) func(id int) (time.Duration, bool) {
	return func(id int) (time.Duration, bool) {
		h := uint64(id*7919 + seed)
		r := rand.New(rand.NewPCG(h, h))
		return delay(r), r.IntN(3) == 0
	}
}

// runOf runs a random program on an Of and on the model side by side and returns the
// trace.
func runOf(t *testing.T, c chooser, steps int) []string {
	m := clock.NewMock()
	ref := &model{spawn: spawner(c.IntN(1000))}
	var w *Of[int]
	var fired []string
	ids := 0
	handles := map[int]Timer{}
	set := func(d time.Duration) {
		ids++
		timer, err := w.Set(ids, d)
		require.NoError(t, err)
		handles[ids] = timer
	}
	w, err := NewOf(config(c, m), func(id int) {
		fired = append(fired, firing(id, int64(m.Elapsed())))
		if d, ok := ref.spawn(id); ok {
			set(d)
		}
	})
	require.NoError(t, err)
	defer w.Stop()
	w.core.Tuning.SortUpTo = crowds[c.IntN(len(crowds))]
	for n := 0; n < steps && m.Elapsed() < math.MaxInt64; n++ {
		stepOf(t, c, m, w, ref, handles, set)
		if err := w.core.Check(); err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		if !slices.Equal(ref.fired, fired) {
			t.Fatalf("step %d: want %v, got %v", n, ref.fired, fired)
		}
		require.Equal(t, len(ref.timers), w.Len())
		st := w.Stats()
		require.Equal(t, uint64(ids), st.Scheduled)
	}
	return fired
}

func stepOf(t *testing.T, c chooser, m *clock.Mock, w *Of[int], ref *model, handles map[int]Timer, set func(time.Duration)) {
	id := 1 + c.IntN(ref.ids+1)
	i := ref.find(id)
	switch op := c.IntN(20); {
	case op < 8:
		d := delay(c)
		ref.set(0, d)
		set(d)
	case op < 10:
		require.Equal(t, i >= 0, handles[id].Stop())
		if i >= 0 {
			ref.remove(i)
		}
	case op < 14:
		d := delay(c)
		require.Equal(t, i >= 0, handles[id].Reset(d))
		if i >= 0 {
			ref.reset(i, d)
		}
	case op == 14:
		left, ok := handles[id].Remaining()
		require.Equal(t, i >= 0, ok)
		require.Equal(t, i >= 0, handles[id].Active())
		if ok {
			require.EqualValues(t, max(0, ref.timers[i].deadline-ref.now), left)
		}
	case op == 15 && c.IntN(10) == 0:
		var got, want []int
		require.Equal(t, len(ref.timers), w.Drain(func(id int) { got = append(got, id) }))
		for _, timer := range ref.sorted() {
			want = append(want, timer.id)
		}
		require.Equal(t, want, got)
		ref.timers = nil
	case op < 17:
		next, ok := ref.next()
		d, got := m.Next()
		require.Equal(t, ok, got)
		require.EqualValues(t, max(0, next.deadline-ref.now)*b2i(ok), d)
		if moved, ok := m.AddNext(); ok {
			require.Equal(t, d, moved)
			ref.add(d)
		}
	default:
		d := step(c)
		ref.add(d)
		m.Add(d)
		require.EqualValues(t, ref.now, m.Elapsed())
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func TestOfAgainstModel(t *testing.T) {
	for seed := range uint64(150) {
		trace := runOf(t, rand.New(rand.NewPCG(seed, 0)), 400)
		if seed < 10 {
			again := runOf(t, rand.New(rand.NewPCG(seed, 0)), 400)
			require.Equal(t, trace, again, "same seed, same trace")
		}
	}
}

// bytesChooser takes choices from a fuzzer's input, and zeros after its end.
type bytesChooser struct{ b []byte }

func (c *bytesChooser) Int64N(n int64) int64 {
	var v uint64
	for size := uint64(n); size > 1 && len(c.b) > 0; size >>= 8 {
		v = v<<8 | uint64(c.b[0])
		c.b = c.b[1:]
	}
	return int64(v % uint64(n))
}

func (c *bytesChooser) IntN(n int) int { return int(c.Int64N(int64(n))) }

func FuzzOf(f *testing.F) {
	f.Add([]byte("a wheel within a wheel, and both of them turn"))
	f.Fuzz(func(t *testing.T, program []byte) {
		runOf(t, &bytesChooser{program}, min(len(program), 300))
	})
}
