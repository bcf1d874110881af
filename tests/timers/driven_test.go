package timers

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/long"
)

// expired are the values that Expire takes out.
func expired[T any](d *hierarchy.Driven[T], now time.Duration) (values []T) {
	for v := range d.Expire(now) {
		values = append(values, v)
	}
	return values
}

// The zero Driven is ready, and empty.
func TestZeroDriven(t *testing.T) {
	var d hierarchy.Driven[string]
	_, ok := d.Next()
	require.False(t, ok)
	require.Zero(t, d.Len())
	require.Empty(t, expired(&d, time.Hour))
	for range d.All() {
		t.Fatal("there is none")
	}
	_, ok = d.Remove(hierarchy.Handle{})
	require.False(t, ok)
	require.False(t, d.Move(hierarchy.Handle{}, 1))
}

// A handle names its own timer alone: none of another Driven, nor one that came later.
func TestDrivenHandleOfAnother(t *testing.T) {
	var d, other hierarchy.Driven[int]
	for i := range 5000 {
		mine, theirs := d.Set(i, 5), other.Set(-i, 5)
		require.NotEqual(t, mine, theirs)
		_, _, ok := d.Get(theirs)
		require.False(t, ok)
		require.False(t, other.Move(mine, 1))
		_, ok = other.Remove(mine)
		require.False(t, ok)
		v, ok := d.Remove(mine)
		require.True(t, ok)
		require.Equal(t, i, v)
		d.Set(i, 5) // in the same memory
		_, ok = d.Remove(mine)
		require.False(t, ok)
	}
	require.Equal(t, 5000, d.Len())
	require.Equal(t, 5000, other.Len())
}

// What has passed, and what is negative, is due at the next Expire, and keeps its deadline.
func TestDrivenKeepsDeadlinesThatHavePassed(t *testing.T) {
	var d hierarchy.Driven[string]
	d.Set("zero", 0)
	first := d.Set("negative", math.MinInt64)
	d.Set("minus one", -1)
	d.Set("last", math.MaxInt64)
	due, ok := d.Next()
	require.True(t, ok)
	require.Equal(t, time.Duration(math.MinInt64), due)
	_, due, _ = d.Get(first)
	require.Equal(t, time.Duration(math.MinInt64), due)
	require.Equal(t, []string{"negative", "minus one", "zero"}, expired(&d, -5), "now begins at 0")
	require.Empty(t, expired(&d, math.MaxInt64-1))
	d.Set("passed", 7)
	require.Equal(t, []string{"passed"}, expired(&d, 3), "now does not go back")
	require.Equal(t, []string{"last"}, expired(&d, math.MaxInt64))
}

// A body may stop at any timer. What it was not given stays. What it sets to now or before
// comes in the same loop, in its place.
func TestDrivenBody(t *testing.T) {
	var d hierarchy.Driven[int]
	handles := []hierarchy.Handle{}
	for i := range 10 {
		handles = append(handles, d.Set(i, time.Duration(10*i)))
	}
	var order []int
	for v, due := range d.Expire(75) {
		require.Equal(t, time.Duration(10*v), due)
		order = append(order, v)
		switch v {
		case 1:
			d.Remove(handles[3])
			d.Move(handles[2], 60) // behind 6, which was set before
			d.Set(8, 80)
			d.Set(-1, -10)
			handles[2] = d.Set(5, 50)
		case -1:
			require.Equal(t, time.Duration(-10), due)
		}
		if len(order) == 6 {
			break
		}
	}
	require.Equal(t, []int{0, 1, -1, 4, 5, 5}, order)
	require.Equal(t, []int{6, 2, 7}, expired(&d, 75))
	require.Equal(t, []int{8, 8, 9}, expired(&d, 90))
}

// A body that panics loses the timer that it was given and no other.
func TestDrivenBodyPanics(t *testing.T) {
	var d hierarchy.Driven[int]
	for i := range 1000 {
		d.Set(i, time.Duration(i/2))
	}
	for i := range 10 {
		require.PanicsWithValue(t, i, func() {
			for v := range d.Expire(600) {
				panic(v)
			}
		})
		require.PanicsWithValue(t, "all", func() {
			for range d.All() {
				panic("all")
			}
		})
		require.Equal(t, 999-i, d.Len())
	}
	require.Len(t, expired(&d, 600), 990)
}

// Next is exact also for a crowd that is far away, and allocates nothing, however its timers
// come and go.
func TestDrivenNextOfACrowd(t *testing.T) {
	const n = 100_000
	var d hierarchy.Driven[int]
	handles := map[time.Duration]hierarchy.Handle{}
	dues := rand.New(rand.NewPCG(1, 1)).Perm(n)
	for i, due := range dues {
		handles[time.Duration(due)*time.Millisecond] = d.Set(i, time.Hour+time.Duration(due)*time.Millisecond)
	}
	for want := range n / 10 {
		delay := time.Duration(want) * time.Millisecond
		due, ok := d.Next()
		if due != time.Hour+delay || !ok {
			require.Equal(t, time.Hour+delay, due)
		}
		if want%2 == 0 {
			d.Remove(handles[delay])
		} else {
			d.Move(handles[delay], 2*time.Hour)
		}
		if want%1000 == 0 {
			require.Zero(t, testing.AllocsPerRun(10, func() { d.Next() }))
		}
	}
}

// Set and Remove allocate nothing, and the memory of a peak goes back.
func TestDrivenMemory(t *testing.T) {
	long.Only(t)
	const n = 1_000_000
	var d hierarchy.Driven[uint64]
	handles := make([]hierarchy.Handle, n)
	before := heap()
	for i := range handles {
		handles[i] = d.Set(uint64(i), time.Duration(i)*7919%n*time.Millisecond)
	}
	peak := heap() - before
	t.Logf("%.1f bytes a timer", float64(peak)/n)
	require.LessOrEqual(t, peak, int64(42*n))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		h := d.Set(1, time.Hour)
		d.Move(h, time.Minute)
		d.Remove(h)
	}))
	taken := 0
	for range d.Expire(n * time.Millisecond / 2) {
		taken++
	}
	require.Equal(t, n/2+1, taken)
	half := heap() - before
	require.LessOrEqual(t, half, int64(42*n), "what was sorted is kept for ever")
	for _, h := range handles {
		d.Remove(h)
	}
	require.Zero(t, d.Len())
	after := heap() - before
	t.Logf("%d kB left of %d", after/1000, peak/1000)
	require.Less(t, after, peak/50)
	for _, h := range handles {
		require.False(t, d.Move(h, 1))
	}
	require.Equal(t, []uint64{5}, func() []uint64 { d.Set(5, 1); return expired(&d, time.Hour) }())
}
