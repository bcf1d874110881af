package engine

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

const (
	aimPrecision = 1000 // Precision
	few          = 4
)

// aimRun makes random calls to a wheel and knows which timers are pending.
type aimRun struct {
	t       *testing.T
	r       *rand.Rand
	clock   *handclock.Clock
	w       *Core[int]
	pending []aimTimer
	last    int64 // when the alarm last rang
}

type aimTimer struct {
	timer Handle
	at    int64
}

func newAimRun(t *testing.T, seed uint64) *aimRun {
	a := &aimRun{t: t, r: rand.New(rand.NewPCG(seed, 1)), clock: &handclock.Clock{}, last: longAgo}
	w := New(inline(a.clock, 1<<a.r.IntN(3), aimPrecision), func(int) {})
	w.spread.Store(true)
	w.aim.few = few * a.r.IntN(2) // as if Precision were the default
	if a.r.IntN(2) == 0 {         // as if Precision were a millisecond
		w.aim.ring.setCoarse = w.aim.alarm.Set
	}
	a.w = w
	return a
}

func (a *aimRun) ring() {
	a.last = a.clock.Time.Load()
	a.clock.Disarm()
	a.clock.Ring()
}

func (a *aimRun) deadline(d int64) int64 {
	return DeadlineAfter(a.clock.Time.Load(), time.Duration(d))
}

func (a *aimRun) step() {
	n := len(a.pending)
	switch op := a.r.IntN(16); {
	case op < 6:
		d := a.r.Int64N(1 << (1 + a.r.IntN(20)))
		if a.r.IntN(30) == 0 {
			d = math.MaxInt64
		}
		a.pending = append(a.pending, aimTimer{after(a.w, time.Duration(d), 0), a.deadline(d)})
	case op < 8 && n > 0:
		a.pending[a.r.IntN(n)].timer.Stop()
	case op < 10 && n > 0:
		p, d := &a.pending[a.r.IntN(n)], a.r.Int64N(1<<16)
		require.True(a.t, p.timer.Reset(time.Duration(d)))
		p.at = a.deadline(d)
	case op < 12:
		a.ring() // needlessly
	case op < 13:
		a.w.review()
	case op < 15:
		a.clock.Time.Add(a.r.Int64N(3 * aimPrecision))
	case a.r.IntN(4) == 0:
		a.w.Drain(func(int, int64) {})
	}
}

// settle rings the alarm if its time has come and then removes the timers that have ended
// from the list. It returns the earliest deadline.
func (a *aimRun) settle() (nearest int64) {
	for a.clock.Aimed() && a.clock.AimedAt() <= a.clock.Time.Load() {
		a.ring()
	}
	nearest = EndOfTime
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
				a.clock.RequireAim(t, max(nearest, a.last+aimPrecision))
			}
			require.NoError(t, a.w.Check())
		}
	}
}

// useAtRandom sets, moves and stops timers. It returns how many it set and did not stop.
func useAtRandom(w *Core[int], r *rand.Rand) (left int64) {
	var timers []Handle
	for range 60 {
		d := time.Duration(r.IntN(300))
		switch n := len(timers); {
		case n == 0 || r.IntN(3) > 0:
			if timer, err := w.Add(0, w.Now(), d, 0); err == nil {
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
		c := &handclock.Clock{}
		var fired, left atomic.Int64
		cfg := inline(c, 4, 50)
		cfg.MaxPending = 40
		w := New(cfg, func(int) { fired.Add(1) })
		w.spread.Store(true)
		w.aim.few = int(round % 2 * few)
		var users, ringer sync.WaitGroup
		for g := range uint64(4) {
			users.Go(func() { left.Add(useAtRandom(w, rand.New(rand.NewPCG(round, g)))) })
		}
		var over atomic.Bool
		ringer.Go(func() {
			for !over.Load() {
				c.Time.Add(7)
				c.Ring()
				w.review()
				runtime.Gosched()
			}
		})
		users.Wait()
		over.Store(true)
		ringer.Wait()
		if w.Len() > 0 {
			c.RequireAim(t, max(int64(w.nearest()), w.aim.last+50))
		}
		c.Time.Add(1000)
		c.Ring()
		require.Zero(t, w.Len())
		require.Equal(t, left.Load(), fired.Load())
		require.Zero(t, w.quota.used.Load())
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
				c := &handclock.Clock{}
				w := New(inline(c, 1, 1), func(int) {})
				var setter sync.WaitGroup
				set(&w.aim, func() bound {
					nearest := w.nearest()
					setter.Go(func() { _, _ = w.Add(0, w.Now(), d, 0) })
					for w.Len() == 0 {
						runtime.Gosched()
					}
					for range 1000 { // only the aim's lock can delay it now
						runtime.Gosched()
					}
					return nearest
				})
				setter.Wait()
				c.RequireAim(t, int64(d))
			})
		}
	}
}

// The first wake-up is exact with any Precision. The one after it may be as far away as Precision
// says, and no further than the end of time.
func TestLargestPrecision(t *testing.T) {
	c := &handclock.Clock{}
	w := newWheel(inline(c, 1, math.MaxInt64))
	fired := 0
	note := func() { fired++ }
	after(w, 10, note)
	require.EqualValues(t, 10, c.AimedAt())
	c.Time.Store(10)
	c.Ring()
	require.Equal(t, 1, fired)
	for range 100 {
		after(w, 10, note)
	}
	require.EqualValues(t, EndOfTime, c.AimedAt())
	c.Time.Store(EndOfTime)
	c.Ring()
	require.Equal(t, 101, fired)
}
