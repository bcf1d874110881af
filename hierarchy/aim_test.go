package hierarchy

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// handClock is a clock that tests move, with one alarm that tests ring. It only records
// what the alarm is aimed at.
type handClock struct {
	elapsed atomic.Int64
	tick    int64 // how far each reading moves it
	ring    func()

	mu    sync.Mutex
	aimed bool // guarded by mu, as aim
	aim   int64
}

func (c *handClock) Now() time.Time                       { return time.Unix(0, c.elapsed.Load()) }
func (c *handClock) Elapsed() time.Duration               { return time.Duration(c.elapsed.Add(c.tick)) }
func (c *handClock) NewAlarm(ring func()) (a clock.Alarm) { c.ring = ring; return c }

func (c *handClock) Set(elapsed time.Duration) { c.note(true, int64(elapsed)) }
func (c *handClock) Stop()                     { c.note(false, 0) }

func (c *handClock) note(aimed bool, aim int64) {
	c.mu.Lock()
	c.aimed, c.aim = aimed, aim
	c.mu.Unlock()
}

// requireAim requires that the alarm is aimed at latest or earlier.
func (c *handClock) requireAim(t *testing.T, latest int64) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.aimed || c.aim > latest {
		require.Fail(t, "aimed too late", "aimed: %v, at %d, want %d at the latest; now %d", c.aimed, c.aim, latest, c.elapsed.Load())
	}
}

const aimPrecision = 1000 // Precision

// aimRun makes random calls to a wheel and knows which timers are pending.
type aimRun struct {
	t       *testing.T
	r       *rand.Rand
	clock   *handClock
	w       *Of[int]
	pending []aimTimer
	last    int64 // when the alarm last rang
}

type aimTimer struct {
	timer Timer
	at    int64
}

func newAimRun(t *testing.T, seed uint64) *aimRun {
	a := &aimRun{t: t, r: rand.New(rand.NewPCG(seed, 1)), clock: &handClock{}, last: longAgo}
	cfg := Config{Clock: a.clock, Shards: 1 << a.r.IntN(3), Precision: aimPrecision, Executor: Inline}
	w, err := NewOf(cfg, func(int) {})
	require.NoError(t, err)
	w.core.spread.Store(true)
	w.core.aim.few = defaultFew * a.r.IntN(2) // as if Precision were the default
	a.w = w
	return a
}

func (a *aimRun) ring() {
	a.last = a.clock.elapsed.Load()
	a.clock.Stop()
	a.clock.ring()
}

func (a *aimRun) deadline(d int64) int64 {
	return deadlineAfter(a.clock.elapsed.Load(), time.Duration(d))
}

func (a *aimRun) step() {
	n := len(a.pending)
	switch op := a.r.IntN(16); {
	case op < 6:
		d := a.r.Int64N(1 << (1 + a.r.IntN(20)))
		if a.r.IntN(30) == 0 {
			d = math.MaxInt64
		}
		timer, err := a.w.Set(0, time.Duration(d))
		require.NoError(a.t, err)
		a.pending = append(a.pending, aimTimer{timer, a.deadline(d)})
	case op < 8 && n > 0:
		a.pending[a.r.IntN(n)].timer.Stop()
	case op < 10 && n > 0:
		p, d := &a.pending[a.r.IntN(n)], a.r.Int64N(1<<16)
		require.True(a.t, p.timer.Reset(time.Duration(d)))
		p.at = a.deadline(d)
	case op < 12:
		a.ring() // needlessly
	case op < 13:
		a.w.core.review()
	case op < 15:
		a.clock.elapsed.Add(a.r.Int64N(3 * aimPrecision))
	case a.r.IntN(4) == 0:
		a.w.Drain(nil)
	}
}

// settle rings the alarm if its time has come and then removes the timers that have ended
// from the list. It returns the earliest deadline.
func (a *aimRun) settle() (nearest int64) {
	for a.clock.aimed && a.clock.aim <= a.clock.elapsed.Load() {
		a.ring()
	}
	nearest = endOfTime
	left := a.pending[:0]
	for _, p := range a.pending {
		if p.timer.Active() {
			left = append(left, p)
			nearest = min(nearest, p.at)
		}
	}
	a.pending = left
	return nearest
}

func TestAimIsNeverTooLate(t *testing.T) {
	for seed := range uint64(150) {
		a := newAimRun(t, seed)
		for range 300 {
			a.step()
			if nearest := a.settle(); len(a.pending) > 0 {
				a.clock.requireAim(t, max(nearest, a.last+aimPrecision))
			}
			require.NoError(t, a.w.core.check())
		}
	}
}

// useAtRandom sets, moves and stops timers. It returns how many it set and did not stop.
func useAtRandom(w *Of[int], r *rand.Rand) (left int64) {
	var timers []Timer
	for range 60 {
		d := time.Duration(r.IntN(300))
		switch n := len(timers); {
		case n == 0 || r.IntN(3) > 0:
			if timer, err := w.Set(0, d); err == nil {
				timers = append(timers, timer)
				left++
			}
		case r.IntN(2) == 0:
			timers[r.IntN(n)].Reset(d)
		case timers[r.IntN(n)].Stop():
			left--
		}
	}
	return left
}

// The same holds while several goroutines use the wheel and the alarm rings all the time:
// at the end the alarm is aimed early enough, and no timer is lost.
func TestAimConcurrently(t *testing.T) {
	for round := range uint64(150) {
		c := &handClock{}
		var fired, left atomic.Int64
		cfg := Config{Clock: c, Shards: 4, Precision: 50, MaxPending: 40, Executor: Inline}
		w, err := NewOf(cfg, func(int) { fired.Add(1) })
		require.NoError(t, err)
		w.core.spread.Store(true)
		w.core.aim.few = int(round % 2 * defaultFew)
		var users, ringer sync.WaitGroup
		for g := range uint64(4) {
			users.Go(func() { left.Add(useAtRandom(w, rand.New(rand.NewPCG(round, g)))) })
		}
		var over atomic.Bool
		ringer.Go(func() {
			for !over.Load() {
				c.elapsed.Add(7)
				c.ring()
				w.core.review()
				runtime.Gosched()
			}
		})
		users.Wait()
		over.Store(true)
		ringer.Wait()
		if w.Len() > 0 {
			c.requireAim(t, max(int64(w.core.nearest()), w.core.aim.last+50))
		}
		c.elapsed.Add(1000)
		c.ring()
		require.Zero(t, w.Len())
		require.Equal(t, left.Load(), fired.Load())
		require.Zero(t, w.core.quota.used.Load())
	}
}

// If a timer is set while the wheel determines its aim, either the wheel sees the timer,
// or the call that sets it aims after the wheel.
func TestTimerSetWhileTheAlarmIsAimed(t *testing.T) {
	type nearest = func() bound
	for name, set := range map[string]func(a *aim, n nearest){
		"finish":  func(a *aim, n nearest) { a.begin(0); a.finish(n, false) },
		"correct": func(a *aim, n nearest) { a.correct(n) },
	} {
		for _, d := range []time.Duration{5, math.MaxInt64} {
			t.Run(name+" "+d.String(), func(t *testing.T) {
				c := &handClock{}
				w, err := NewOf(Config{Clock: c, Shards: 1, Precision: 1}, func(int) {})
				require.NoError(t, err)
				var setter sync.WaitGroup
				set(&w.core.aim, func() bound {
					nearest := w.core.nearest()
					setter.Go(func() { _, _ = w.Set(0, d) })
					for w.Len() == 0 {
						runtime.Gosched()
					}
					for range 1000 { // only the aim's lock can delay it now
						runtime.Gosched()
					}
					return nearest
				})
				setter.Wait()
				c.requireAim(t, int64(d))
			})
		}
	}
}

// The first wake-up is exact with any Precision. The one after it may be as far away as Precision
// says, and no further than the end of time.
func TestLargestPrecision(t *testing.T) {
	c := &handClock{}
	w, err := New(Config{Clock: c, Precision: math.MaxInt64, Executor: Inline})
	require.NoError(t, err)
	fired := 0
	note := func() { fired++ }
	_, err = w.AfterFunc(10, note)
	require.NoError(t, err)
	require.EqualValues(t, 10, c.aim)
	c.elapsed.Store(10)
	c.ring()
	require.Equal(t, 1, fired)
	for range 100 {
		_, err = w.AfterFunc(10, note)
		require.NoError(t, err)
	}
	require.EqualValues(t, endOfTime, c.aim)
	c.elapsed.Store(endOfTime)
	c.ring()
	require.Equal(t, 101, fired)
}
