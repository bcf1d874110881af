package timers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Any number of Idles, touched and stopped at random, fire when a reference says.
func TestIdlesAtRandom(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: hierarchy.Inline, Shards: 1 << r.IntN(3)})
				const n = 20
				var fired, due [n]time.Time
				var idles [n]*hierarchy.Idle
				var left [n]time.Duration
				for i := range idles {
					left[i] = time.Duration(1 + r.IntN(1<<r.IntN(30)))
					due[i] = time.Now().Add(left[i])
					idles[i] = newIdle(t, w, left[i], func() { fired[i] = time.Now() })
				}
				over := func(i int) bool { return due[i].IsZero() || !due[i].After(time.Now()) }
				for range 500 {
					i := r.IntN(n)
					switch op := r.IntN(20); {
					case op == 0:
						require.Equal(t, !over(i), idles[i].Stop())
						if !over(i) {
							due[i] = time.Time{}
						}
					case op < 12:
						require.Equal(t, !over(i), idles[i].Touch())
						if !over(i) {
							due[i] = time.Now().Add(left[i])
						}
					default:
						wheeltest.Pass(time.Duration(r.IntN(1 << r.IntN(28))))
					}
				}
				wheeltest.Pass(time.Hour)
				require.Equal(t, due, fired)
				wheeltest.RequireBalance(t, w)
			})
		})
	}
}

// tickingClock is a clock that moves by a nanosecond with each reading, so that all readings
// differ. A goroutine rings its alarm all the time.
type tickingClock struct {
	clock.Clock
	elapsed atomic.Int64
	ring    atomic.Value // func()
}

func (c *tickingClock) Elapsed() time.Duration { return time.Duration(c.elapsed.Add(1)) }

func (c *tickingClock) NewAlarm(ring func()) clock.Alarm {
	c.ring.Store(ring)
	return c.Clock.NewAlarm(func() {})
}

// idleRace is an Idle that goroutines touch while its wheel fires it, and others may end it.
type idleRace struct {
	clock *tickingClock
	w     *hierarchy.Wheel
	idle  *hierarchy.Idle
	fired atomic.Int32
	at    atomic.Int64    // when it fired
	last  [2]atomic.Int64 // by toucher; when the last Touch that was true began
}

func newIdleRace(t *testing.T, d time.Duration) *idleRace {
	x := &idleRace{clock: &tickingClock{Clock: clock.System()}}
	var err error
	x.w, err = hierarchy.New(hierarchy.Config{Clock: x.clock, Precision: 1, Executor: hierarchy.Inline, Shards: 1})
	require.NoError(t, err)
	x.idle = newIdle(t, x.w, d, func() { x.at.Store(int64(x.clock.Elapsed())); x.fired.Add(1) })
	return x
}

func (x *idleRace) touch(g int) {
	for range 300 {
		began := x.clock.elapsed.Load()
		if !x.idle.Touch() {
			return
		}
		x.last[g].Store(began)
	}
}

func (x *idleRace) ring() {
	for range 300 {
		if x.clock.ring.Load().(func())(); x.fired.Load() > 0 {
			return
		}
	}
}

// run has the Idle touched and fired, and calls end, all at once. end reports whether it
// has stopped the Idle.
func (x *idleRace) run(t *testing.T, d time.Duration, end func() (stopped bool)) hierarchy.Stats {
	var all sync.WaitGroup
	all.Go(func() { x.touch(0) })
	all.Go(func() { x.touch(1) })
	all.Go(x.ring)
	stopped := end()
	all.Wait()
	st := x.w.Stats()
	require.EqualValues(t, 1, st.Scheduled)
	require.EqualValues(t, x.fired.Load(), st.Fired)
	require.Equal(t, stopped, st.Stopped == 1)
	if st.Pending == 0 {
		require.False(t, x.idle.Touch())
		require.False(t, x.idle.Stop())
	}
	if st.Fired == 1 {
		require.GreaterOrEqual(t, x.at.Load(), max(x.last[0].Load(), x.last[1].Load())+int64(d))
	}
	x.w.Stop()
	return st
}

// Goroutines touch an Idle while the wheel fires it, one stops it, or the wheel is stopped.
// It ends once, and not before d has passed from when a Touch that was true began.
func TestIdleConcurrently(t *testing.T) {
	ends := map[string]int{}
	for round := range 6000 {
		d := time.Duration(1 + round%4)
		x := newIdleRace(t, d)
		st := x.run(t, d, func() bool {
			for i := round / 4 % 300; i > 0 && round%3 > 0; i-- {
				x.clock.Elapsed()
			}
			switch round % 3 {
			case 1:
				return x.idle.Stop()
			case 2:
				x.w.Stop()
			}
			return false
		})
		ends[fmt.Sprint(st.Fired, st.Stopped, st.Dropped)]++
	}
	require.GreaterOrEqual(t, len(ends), 3, "it has fired, was stopped and was dropped")
}
