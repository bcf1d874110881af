package hierarchy

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowRound rings for a timer at 10 whose callback takes so long, and sets the next one so far
// ahead of 10. It returns how many timers have fired.
func slowRound(t *testing.T, c *handClock, took, next int64) (fired int) {
	w, err := New(Config{Clock: c, Shards: 2, Precision: aimPrecision, Executor: Inline})
	require.NoError(t, err)
	_, err = w.AfterFunc(10, func() {
		fired++
		_, err := w.AfterFunc(time.Duration(next), func() { fired++ })
		require.NoError(t, err)
		c.elapsed.Add(took)
	})
	require.NoError(t, err)
	c.elapsed.Store(10)
	c.ring()
	return fired
}

// A wheel whose next wake-up is due when it has just worked stays awake. That comes at least one
// Precision after the last one.
func TestStaysAwakeForWhatIsDue(t *testing.T) {
	require.Equal(t, 2, slowRound(t, &handClock{}, aimPrecision, aimPrecision))
	require.Equal(t, 2, slowRound(t, &handClock{}, aimPrecision, 1))
	c := &handClock{}
	require.Equal(t, 1, slowRound(t, c, aimPrecision-1, 1))
	require.EqualValues(t, 10+aimPrecision, c.aim)
}

// A wheel waits for a wake-up that comes soon. But it does not wait for a clock that stands still.
func TestStaysAwakeForWhatIsNear(t *testing.T) {
	require.Equal(t, 2, slowRound(t, &handClock{tick: 100}, 0, armCost/2))

	c := &handClock{tick: 100}
	require.Equal(t, 1, slowRound(t, c, 0, 2*armCost))
	c.requireAim(t, 2*armCost+1000)

	c = &handClock{}
	require.Equal(t, 1, slowRound(t, c, 0, armCost/2))
	require.EqualValues(t, 10+armCost/2, c.aim)
}

// However busy a wheel is, its clock gets its goroutine back.
func TestBusyWheelReturnsToItsClock(t *testing.T) {
	c := &handClock{}
	w, err := New(Config{Clock: c, Executor: Inline, Precision: aimPrecision})
	require.NoError(t, err)
	runs := 0
	var again func()
	again = func() {
		if runs++; runs < 1000 {
			_, err := w.AfterFunc(aimPrecision/2, again)
			require.NoError(t, err)
		}
		c.elapsed.Add(aimPrecision)
	}
	_, err = w.AfterFunc(1, again)
	require.NoError(t, err)
	c.elapsed.Store(1)
	c.ring()
	require.Equal(t, 1+maxStays, runs)
	c.requireAim(t, c.elapsed.Load())
}

// A wheel that is being stopped does not stay awake for what it will not fire.
func TestStoppedWheelDoesNotStayAwake(t *testing.T) {
	clk := &handClock{}
	c := twoShards(t, clk)
	setOn(c, 0, 1, nop)
	clk.elapsed.Store(1)
	c.aim.demand(1)
	c.closed.Store(true)
	c.wake()
	require.EqualValues(t, 1, c.aim.count())
}

// If a wheel has stayed awake in vain, as a timer was stopped, it looks at all shards, so that
// the next wake-up is not in vain, too.
func TestStaysAwakeInVainOnce(t *testing.T) {
	clk := &handClock{}
	c, err := newCore(Config{Clock: clk, Shards: 4, Precision: aimPrecision, Executor: Inline}, func(f func()) { f() })
	require.NoError(t, err)
	setOn(c, 0, 10, func() { clk.elapsed.Add(2 * aimPrecision) })
	for k, s := range c.shards[1:] {
		s.mu.Lock()
		i, _, wakeAt := s.set(nop, 0, int64(1500*(k+1)), 0)
		s.unlock(wakeAt)
		s.mu.Lock()
		s.discard(i, s.timers.Arena().At(i))
		s.mu.Unlock()
	}
	setOn(c, 0, int64(time.Hour), nop)
	for clk.elapsed.Store(10); clk.aim < int64(time.Hour); clk.ring() {
		clk.elapsed.Store(max(clk.elapsed.Load(), clk.aim))
	}
	require.EqualValues(t, 2, c.aim.count(), "one in vain")
}

// With Inline too, a goroutine that a timer has woken does not wait until the wheel sleeps.
func TestWokenGoroutineRunsWhileWheelIsAwake(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := &handClock{tick: 100}
	w, err := New(Config{Clock: c, Shards: 1, Precision: 1, Executor: Inline})
	require.NoError(t, err)
	var runs atomic.Int32
	seen := make(chan int32)
	go func() {
		_ = w.Sleep(t.Context(), 2*armCost)
		n := runs.Load()
		seen <- n
	}()
	for w.Len() == 0 {
		runtime.Gosched()
	}
	var again func()
	again = func() {
		runs.Add(1)
		_, err := w.AfterFunc(armCost*3/4, again)
		require.NoError(t, err)
	}
	_, err = w.AfterFunc(armCost*3/4, again)
	require.NoError(t, err)
	c.elapsed.Store(c.elapsed.Load() + 2*armCost)
	c.ring()
	require.Less(t, <-seen, int32(3))
}

// With Go too, the timers of a shard that is far behind do not hold up those of another. Each
// shard has its turn.
func TestShardsTakeTurnsWithGo(t *testing.T) {
	const n = 100 * yieldEvery
	clk := &handClock{}
	c, err := newCore(Config{Clock: clk, Shards: 4}, func(f func()) { f() })
	require.NoError(t, err)
	var order []int
	c.onFire = func(shard int, _ uint32) { order = append(order, shard) }
	for i := range int64(n) {
		setOn(c, 0, 1+i, nop)
		setOn(c, 1, 1+i, nop)
	}
	setOn(c, 2, n, nop)
	setOn(c, 3, n, nop)
	clk.elapsed.Store(n)
	c.wake()
	require.Len(t, order, 2*n+2)
	turns := order[:4*(yieldEvery+popTogether)]
	for shard := range c.shards {
		require.Contains(t, turns, shard)
	}
	require.NoError(t, c.shutdown(t.Context()))
}

func nop() {}

// A goroutine that has to wait for the lock again and again gets a shard of its own, also if no
// timer is set by another.
func TestWheelSpreadsWhereOneWaits(t *testing.T) {
	for _, shards := range []int{1, 2} {
		c, err := newCore(Config{Clock: &handClock{}, Shards: shards}, func(f func()) { f() })
		require.NoError(t, err)
		s := c.shards[0]
		for range 500 {
			began, done := make(chan bool), make(chan bool)
			s.mu.Lock()
			go func() {
				close(began)
				_, err := c.add(nop, 0, 1, 0)
				require.NoError(t, err)
				close(done)
			}()
			<-began
			for range 10 {
				runtime.Gosched()
			}
			s.mu.Unlock()
			if <-done; c.spread.Load() {
				break
			}
		}
		require.Equal(t, shards > 1, c.spread.Load())
		c.stop()
	}
}
