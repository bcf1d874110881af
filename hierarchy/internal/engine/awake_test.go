package engine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// slowRound rings for a timer at 10 whose callback takes so long, and sets the next one so far
// ahead of 10. It returns how many timers have fired.
func slowRound(c *handclock.Clock, took, next int64) (fired int) {
	w := newWheel(inline(c, 2, aimPrecision))
	after(w, 10, func() {
		fired++
		after(w, time.Duration(next), func() { fired++ })
		c.Time.Add(took)
	})
	c.Time.Store(10)
	c.Ring()
	return fired
}

// A wheel whose next wake-up is due when it has just worked stays awake. That comes at least one
// Precision after the last one.
func TestStaysAwakeForWhatIsDue(t *testing.T) {
	require.Equal(t, 2, slowRound(&handclock.Clock{}, aimPrecision, aimPrecision))
	require.Equal(t, 2, slowRound(&handclock.Clock{}, aimPrecision, 1))
	c := &handclock.Clock{}
	require.Equal(t, 1, slowRound(c, aimPrecision-1, 1))
	require.EqualValues(t, 10+aimPrecision, c.AimedAt())
}

// A wheel waits for a wake-up that comes soon. But it does not wait for a clock that stands still.
func TestStaysAwakeForWhatIsNear(t *testing.T) {
	require.Equal(t, 2, slowRound(&handclock.Clock{Tick: 100}, 0, armCost/2))

	c := &handclock.Clock{Tick: 100}
	require.Equal(t, 1, slowRound(c, 0, 2*armCost))
	c.RequireAim(t, 2*armCost+1000)

	c = &handclock.Clock{}
	require.Equal(t, 1, slowRound(c, 0, armCost/2))
	require.EqualValues(t, 10+armCost/2, c.AimedAt())
}

// However busy a wheel is, its clock gets its goroutine back.
func TestBusyWheelReturnsToItsClock(t *testing.T) {
	c := &handclock.Clock{}
	w := newWheel(inline(c, 1, aimPrecision))
	runs := 0
	var again func()
	again = func() {
		if runs++; runs < 1000 {
			after(w, aimPrecision/2, again)
		}
		c.Time.Add(aimPrecision)
	}
	after(w, 1, again)
	c.Time.Store(1)
	c.Ring()
	require.Equal(t, 1+maxStays, runs)
	c.RequireAim(t, c.Time.Load())
}

// A wheel that is being stopped does not stay awake for what it will not fire.
func TestStoppedWheelDoesNotStayAwake(t *testing.T) {
	clk := &handclock.Clock{}
	c := twoShards(clk)
	setOn(c, 0, 1, nop)
	clk.Time.Store(1)
	c.aim.demand(1)
	c.closed.Store(true)
	c.wake()
	require.EqualValues(t, 1, c.aim.count())
}

// If a wheel has stayed awake in vain, as a timer was stopped, it looks at all shards, so that
// the next wake-up is not in vain, too.
func TestStaysAwakeInVainOnce(t *testing.T) {
	clk := &handclock.Clock{}
	c := newWheel(inline(clk, 4, aimPrecision))
	setOn(c, 0, 10, func() { clk.Time.Add(2 * aimPrecision) })
	for k, s := range c.Shards[1:] {
		s.Mu.Lock()
		i, _, wakeBy := s.set(nop, 0, int64(1500*(k+1)), 0)
		s.unlockFor(wakeBy)
		s.Mu.Lock()
		s.discard(i, s.Timers.Arena().At(i))
		s.Mu.Unlock()
	}
	setOn(c, 0, int64(time.Hour), nop)
	for clk.Time.Store(10); clk.AimedAt() < int64(time.Hour); clk.Ring() {
		clk.Time.Store(max(clk.Time.Load(), clk.AimedAt()))
	}
	require.EqualValues(t, 2, c.aim.count(), "one in vain")
}

// With Inline too, a goroutine that a timer has woken does not wait until the wheel sleeps.
func TestWokenGoroutineRunsWhileWheelIsAwake(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := &handclock.Clock{Tick: 100}
	w := newWheel(inline(c, 1, 1))
	var runs atomic.Int32
	seen := make(chan int32)
	woken := make(chan bool, 1)
	_, err := w.Add(func() { woken <- true }, w.Now(), 2*armCost, RunInWake)
	require.NoError(t, err)
	go func() {
		<-woken
		seen <- runs.Load()
	}()
	var again func()
	again = func() {
		runs.Add(1)
		after(w, armCost*3/4, again)
	}
	after(w, armCost*3/4, again)
	c.Time.Store(c.Time.Load() + 2*armCost)
	c.Ring()
	require.Less(t, <-seen, int32(3))
}

// A Pool has what is due in portions, also if the next timer is always that of the other shard.
func TestShardsTakeTurnsWithAPool(t *testing.T) {
	const n = 100 * yieldEvery
	clk := &handclock.Clock{}
	cfg := inGoroutines(clk, 2)
	cfg.IsGo, cfg.Execute = false, executor.NewPool(1)
	cfg.Pool = executor.PoolOf(cfg.Execute)
	c := newWheel(cfg)
	fired, most := 0, 0
	c.OnFire = func(int, uint32) { fired, most = fired+1, max(most, len(c.due)) }
	for i := range int64(n) {
		setOn(c, int(i&1), 1+i, nop)
	}
	clk.Time.Store(n)
	c.wake()
	require.Equal(t, n, fired)
	require.LessOrEqual(t, most, yieldEvery+popTogether)
	require.NoError(t, c.Shutdown(t.Context()))
}

// With Go too, the timers of a shard that is far behind do not hold up those of another. Each
// shard has its turn.
func TestShardsTakeTurnsWithGo(t *testing.T) {
	const n = 100 * yieldEvery
	clk := &handclock.Clock{}
	c := newWheel(inGoroutines(clk, 4))
	var order []int
	c.OnFire = func(shard int, _ uint32) { order = append(order, shard) }
	for i := range int64(n) {
		setOn(c, 0, 1+i, nop)
		setOn(c, 1, 1+i, nop)
	}
	setOn(c, 2, n, nop)
	setOn(c, 3, n, nop)
	clk.Time.Store(n)
	c.wake()
	require.Len(t, order, 2*n+2)
	turns := order[:4*(yieldEvery+popTogether)]
	for shard := range c.Shards {
		require.Contains(t, turns, shard)
	}
	require.NoError(t, c.Shutdown(t.Context()))
}

func nop() {}

// A goroutine that has to wait for the lock again and again gets a shard of its own, also if no
// timer is set by another.
func TestWheelSpreadsWhereOneWaits(t *testing.T) {
	for _, shards := range []int{1, 2} {
		c := newWheel(inGoroutines(&handclock.Clock{}, shards))
		s := c.Shards[0]
		for range 500 {
			began, done := make(chan bool), make(chan bool)
			s.Mu.Lock()
			go func() {
				close(began)
				_, err := c.Add(nop, 0, 1, 0)
				require.NoError(t, err)
				close(done)
			}()
			<-began
			for range 10 {
				runtime.Gosched()
			}
			s.Mu.Unlock()
			if <-done; c.spread.Load() {
				break
			}
		}
		require.Equal(t, shards > 1, c.spread.Load())
		c.Stop()
	}
}
