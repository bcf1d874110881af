package engine

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// After any calls, a timer that was due when it was set has fired, or the alarm is aimed at
// a time that has passed.
func TestAimOfDueTimersIsNow(t *testing.T) {
	for seed := range uint64(150) {
		a := newAimRun(t, seed)
		for range 300 {
			a.step()
			if a.settle(); a.r.IntN(4) > 0 {
				continue
			}
			due := after(a.w, -1, 0)
			if n := len(a.pending); n > 0 && a.r.IntN(2) == 0 && a.pending[a.r.IntN(n)].timer.Stop() {
				require.True(t, due.Stop())
				due = after(a.w, 0, 0)
			}
			a.clock.RequireAim(t, a.clock.Time.Load())
			a.ring()
			a.settle()
			require.False(t, due.Active())
			require.NoError(t, a.w.Check())
		}
	}
}

// A timer that is due when a callback sets it fires right after the round, although the round
// began before that deadline. That is another wake-up, which the alarm is not aimed at.
func TestAimOfDueTimersSetInARound(t *testing.T) {
	c := &handclock.Clock{}
	w := newWheel(inline(c, 2, aimPrecision))
	fired := false
	after(w, 10, func() {
		c.Time.Add(5)
		after(w, 0, func() { fired = true })
	})
	c.Time.Store(10)
	c.Ring()
	require.True(t, fired)
	require.EqualValues(t, 2, w.aim.count())
	after(w, 1, func() {})
	require.EqualValues(t, 15+aimPrecision, c.AimedAt(), "an ordinary timer waits")
}

// A due timer asks for no wake-up once it was stopped and the wheel has noticed.
func TestAimOfStoppedDueTimer(t *testing.T) {
	c := &handclock.Clock{}
	w := newWheel(inline(c, 1, aimPrecision))
	timer := after(w, 0, func() {})
	after(w, 5, func() {})
	require.True(t, timer.Stop())
	c.Ring()
	require.EqualValues(t, aimPrecision, c.AimedAt())
}

// A crowd that grows by Schedules whose first run is due is still cascaded ahead of its time.
func TestCrowdThatGrowsByDueSchedules(t *testing.T) {
	c := &handclock.Clock{}
	w := newWheel(inGoroutines(c, 1))
	r := rand.New(rand.NewPCG(1, 2))
	const hour = int64(time.Hour)
	for range 10_000 {
		after(w, time.Duration(hour+r.Int64N(hour/100)), func() {})
	}
	s := w.Shards[0]
	s.notBefore.store(none) // as if nothing were aimed at
	for range 5000 {
		keeping(w)
	}
	require.Less(t, s.notBefore.load(), bound(hour))
	require.NoError(t, w.Shutdown(context.Background()))
}

// What is dispatched within the call is waited for by nobody.
func TestFiredWithinTheCallIsNotNearest(t *testing.T) {
	c := &handclock.Clock{}
	w := newWheel(inGoroutines(c, 1))
	keeping(w)
	require.Equal(t, none, w.nearest())
	require.NoError(t, w.Check())
	require.NoError(t, w.Shutdown(context.Background()))
}

// keeping sets a timer that is due, and kept by its owner.
func keeping(w *Core[func()]) {
	var o Owned[func()]
	run := func() {}
	o.InitSet(w, func() { o.FireAndKeep(&run) }, 0, 0, 0)
}
