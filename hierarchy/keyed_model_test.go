package hierarchy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// keyedRun runs a random program on a Keyed and on the model side by side. The values are
// the ids of the model.
type keyedRun struct {
	t     *testing.T
	c     chooser
	mock  *clock.Mock
	wheel *Keyed[any, int]
	ref   *model
	ids   int
	fired []string
}

// key returns the key for a number. Keys have several types.
func key(k int) any {
	switch k % 3 {
	case 0:
		return k
	case 1:
		return string(rune('a' + k))
	}
	return [2]int{k, k}
}

func runKeyed(t *testing.T, c chooser, length int) []string {
	r := &keyedRun{t: t, c: c, mock: clock.NewMock(), ref: &model{}}
	r.ref.spawn = spawner(c.IntN(1000))
	var err error
	r.wheel, err = NewKeyed(config(c, r.mock), r.fire)
	require.NoError(t, err)
	defer r.wheel.Stop()
	r.wheel.core.Tuning.SortUpTo = crowds[c.IntN(len(crowds))]
	for n := 0; n < length && r.mock.Elapsed() < math.MaxInt64; n++ {
		r.step()
		require.NoError(t, r.wheel.core.Check())
		require.NoError(t, r.wheel.table.Check())
		if !slices.Equal(r.ref.fired, r.fired) {
			t.Fatalf("step %d: want %v, got %v", n, r.ref.fired, r.fired)
		}
		require.Equal(t, len(r.ref.timers), r.wheel.Len())
	}
	return r.fired
}

// fire is the callback. For some ids it sets a timer, as the model does. The key is NaN,
// which stands for key 0 of the model.
func (r *keyedRun) fire(_ any, id int) {
	r.fired = append(r.fired, firing(id, int64(r.mock.Elapsed())))
	if d, ok := r.ref.spawn(id); ok {
		r.ids++
		require.NoError(r.t, r.wheel.Set(math.NaN(), r.ids, d))
	}
}

func (r *keyedRun) step() {
	k := 1 + r.c.IntN(40)
	i := r.ref.findKey(k)
	switch op := r.c.IntN(20); {
	case op < 5:
		r.set(k, i, delay(r.c))
	case op < 8:
		r.setIf(k, i, delay(r.c))
	case op < 11:
		r.move(k, i, delay(r.c))
	case op < 14:
		v, ok := r.wheel.Remove(key(k))
		require.Equal(r.t, i >= 0, ok)
		if ok {
			require.Equal(r.t, r.ref.timers[i].id, v)
			r.ref.remove(i)
		}
	case op < 16:
		v, left, ok := r.wheel.Get(key(k))
		alone, pending := r.wheel.Value(key(k))
		require.Equal(r.t, v, alone)
		require.Equal(r.t, ok, pending)
		require.Equal(r.t, i >= 0, ok)
		if ok {
			require.Equal(r.t, r.ref.timers[i].id, v)
			require.EqualValues(r.t, max(0, r.ref.timers[i].deadline-r.ref.now), left)
		}
	case op == 16 && r.c.IntN(10) == 0:
		r.drain()
	case op == 16:
		r.all()
	default:
		d := step(r.c)
		r.ref.add(d)
		r.mock.Add(d)
	}
}

func (r *keyedRun) set(k, i int, d time.Duration) {
	r.ids++
	old, replaced, err := r.wheel.Swap(key(k), r.ids, d)
	require.NoError(r.t, err)
	require.Equal(r.t, i >= 0, replaced)
	if replaced {
		require.Equal(r.t, r.ref.timers[i].id, old)
		r.ref.remove(i)
	}
	r.ref.set(k, d)
}

// setIf sets under a condition.
func (r *keyedRun) setIf(k, i int, d time.Duration) {
	r.ids++
	var set, want bool
	var err error
	deadline := engine.DeadlineAfter(r.ref.now, d)
	switch r.c.IntN(4) {
	case 0:
		set, err = r.wheel.SetIfAbsent(key(k), r.ids, d)
		want = i < 0
	case 1:
		set, err = r.wheel.SetSooner(key(k), r.ids, d)
		want = i < 0 || deadline < r.ref.timers[i].deadline
	case 2:
		set, err = r.wheel.SetLater(key(k), r.ids, d)
		want = i < 0 || deadline > r.ref.timers[i].deadline
	default:
		err = r.wheel.SetAt(key(k), r.ids, r.mock.Now().Add(d))
		set, want = true, true
	}
	require.NoError(r.t, err)
	require.Equal(r.t, want, set)
	if !want {
		r.ids--
		return
	}
	if i >= 0 {
		r.ref.remove(i)
	}
	r.ref.set(k, d)
}

// all compares what All gives.
func (r *keyedRun) all() {
	want := map[int]int64{}
	for _, timer := range r.ref.timers {
		want[timer.id] = timer.deadline
	}
	for _, e := range r.wheel.All() {
		due, ok := want[e.Value]
		require.True(r.t, ok)
		require.Equal(r.t, time.Unix(0, due).UTC(), e.Due)
		delete(want, e.Value)
	}
	require.Empty(r.t, want)
}

func (r *keyedRun) move(k, i int, d time.Duration) {
	ok, err := r.wheel.Move(key(k), d)
	require.NoError(r.t, err)
	require.Equal(r.t, i >= 0, ok)
	if ok {
		r.ref.reset(i, d)
	}
}

func (r *keyedRun) drain() {
	var got, want []int
	var dues []time.Time
	n := r.wheel.DrainEntries(func(_ any, e Entry[int]) {
		got = append(got, e.Value)
		dues = append(dues, e.Due)
	})
	require.Equal(r.t, len(r.ref.timers), n)
	for i, timer := range r.ref.sorted() {
		want = append(want, timer.id)
		require.Equal(r.t, time.Unix(0, timer.deadline).UTC(), dues[i])
	}
	require.Equal(r.t, want, got)
	r.ref.timers = nil
}

func TestKeyedAgainstModel(t *testing.T) {
	for seed := range uint64(100) {
		trace := runKeyed(t, rand.New(rand.NewPCG(seed, 5)), 300)
		if seed < 5 {
			again := runKeyed(t, rand.New(rand.NewPCG(seed, 5)), 300)
			require.Equal(t, trace, again, "same seed, same trace")
		}
	}
}

func FuzzKeyed(f *testing.F) {
	f.Add([]byte("a wheel within a wheel, and both of them turn"))
	f.Fuzz(func(t *testing.T, program []byte) {
		runKeyed(t, &bytesChooser{program}, min(len(program), 300))
	})
}
