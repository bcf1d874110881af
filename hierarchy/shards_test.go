package hierarchy

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// twoShards returns a wheel with two shards. It runs callbacks in the goroutine that wakes
// it.
func twoShards(t *testing.T, c *handClock) *core[func()] {
	w, err := newCore(Config{Clock: c, Shards: 2, Executor: Inline}, func(f func()) { f() })
	require.NoError(t, err)
	return w
}

// setOn sets a timer on a shard.
func setOn(c *core[func()], shard int, deadline int64, f func()) {
	s := c.shards[shard]
	s.mu.Lock()
	_, _, wakeAt := s.set(f, c.now(), deadline, 0)
	s.unlock(wakeAt)
}

// If callbacks set their timers again without a delay, one timer of their shard is always
// due. The timers of other shards still get their turn.
func TestShardThatIsNeverDone(t *testing.T) {
	clk := &handClock{tick: 1}
	c := twoShards(t, clk)
	runs, waited := 0, -1
	var again func()
	again = func() {
		if runs++; runs == 10 {
			setOn(c, 1, c.now(), func() { waited = runs })
		}
		if runs < 100*yieldEvery {
			setOn(c, 0, c.now(), again)
		}
	}
	for range yieldEvery {
		setOn(c, 0, c.now(), again)
	}
	c.wake()
	require.Positive(t, waited, "the timer of the other shard never fired")
	require.LessOrEqual(t, waited, 4*yieldEvery)
}

// A timer counts as in flight from the moment it is taken out of its shard, so that
// Shutdown waits for it.
func TestShutdownWaitsForRounds(t *testing.T) {
	clk := &handClock{}
	c := twoShards(t, clk)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var waits []error
	c.onFire = func(int, uint32) { waits = append(waits, c.inFlight.wait(over)) }
	fired := false
	setOn(c, 0, 1, func() { fired = true })
	clk.elapsed.Store(1)
	c.wake()
	require.Equal(t, []error{context.Canceled}, waits)
	require.True(t, fired)
	require.NoError(t, c.shutdown(over), "nothing is in flight any more")
}

// The cascade of a crowd on one shard delays a due timer of another shard by at most one
// budget.
func TestCascadeOfAnotherShard(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handClock{}
	c := twoShards(t, clk)
	c.tuning.LeadTime = 0      // nothing is dealt ahead
	for i := range uint64(n) { // in the second half of one slot, in random order
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() {})
	}
	setOn(c, 0, 1, func() {}) // when it has fired, the shard knows where the slot starts
	clk.elapsed.Store(1)
	c.wake()
	require.Equal(t, bound(base), c.shards[0].notBefore.load())

	carried := uint64(math.MaxUint64)
	setOn(c, 1, base+1<<28, func() { carried = c.shards[0].timers.Cascaded() })
	clk.elapsed.Store(base + 1<<28)
	c.wake()
	require.Positive(t, carried, "the cascade had not begun, so this tested nothing")
	require.LessOrEqual(t, carried, uint64(2*batch))
	require.GreaterOrEqual(t, c.shards[0].timers.Cascaded(), uint64(n), "the rest of the crowd must cascade afterwards")
	require.NoError(t, c.check())
}

// A short timer in the same slot as a crowd does not wait for the crowd, which was dealt ahead.
func TestShortTimerOvertakesCrowd(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handClock{tick: 1000}
	c := twoShards(t, clk)
	for i := range uint64(n) { // in random order
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() {})
	}
	s, visited := c.shards[0], -1
	setOn(c, 0, base+10_000, func() { visited = s.timers.Visited() - visited })
	for clk.aim < base {
		clk.elapsed.Store(clk.aim)
		c.wake()
	}
	require.GreaterOrEqual(t, s.timers.Cascaded(), uint64(n), "the crowd was not dealt ahead, so this tests nothing")
	visited = s.timers.Visited()
	clk.elapsed.Store(base + 10_000)
	c.wake()
	require.LessOrEqual(t, visited, 2*batch)
	require.NoError(t, c.check())
}

// A crowd is dealt ahead. The wheel wakes for that although no timer is due. When the hand comes to the
// crowd's slot, only the timers of one finer slot are moved.
func TestCrowdComesDownInTime(t *testing.T) {
	const n, base = 50_000, int64(8) << 30
	clk := &handClock{}
	c := twoShards(t, clk)
	fired := 0
	for i := range uint64(n) {
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() { fired++ })
	}
	s := c.shards[0]
	for s.timers.Cascaded() == 0 { // until the crowd is dealt ahead
		require.Less(t, clk.aim, base)
		clk.elapsed.Store(clk.aim)
		c.wake()
		require.NoError(t, c.check())
	}
	require.Greater(t, clk.aim, base, "nothing has to be done when its slot begins")
	require.EqualValues(t, n, s.timers.Cascaded())
	require.Equal(t, n, s.timers.InSlot(c.layout.Base(), 8))
	clk.elapsed.Store(clk.aim)
	c.wake()
	require.NoError(t, c.check())
	require.Greater(t, s.timers.Cascaded(), uint64(n))
	require.Less(t, s.timers.Cascaded(), uint64(n+n/8))
	require.Zero(t, fired)
	for fired < n {
		clk.elapsed.Store(max(clk.aim, clk.elapsed.Load()+1))
		c.wake()
	}
	require.NoError(t, c.check())
}

// A crowd that is not too large is gathered instead. The wheel wakes for that although no timer
// is due, and knows then when the first will be.
func TestSmallCrowdIsGatheredInTime(t *testing.T) {
	const n, base = 10_000, int64(8) << 30
	clk := &handClock{}
	c := twoShards(t, clk)
	earliest, fired, touched := int64(math.MaxInt64), 0, 0
	c.touch = func(func()) { touched++ }
	for i := range uint64(n) {
		at := base + 1<<29 + int64(i*0x9E3779B97F4A7C15>>35)
		earliest = min(earliest, at)
		setOn(c, 0, at, func() {
			require.GreaterOrEqual(t, clk.elapsed.Load(), at)
			fired++
		})
	}
	s := c.shards[0]
	for s.timers.Cascaded() < n {
		require.Less(t, clk.aim, base)
		clk.elapsed.Store(clk.aim)
		c.wake()
		require.NoError(t, c.check())
	}
	require.Equal(t, earliest, clk.aim)
	require.Equal(t, n, s.timers.InSlot(c.layout.Base(), 8))
	require.Zero(t, fired)
	for fired < n {
		clk.elapsed.Store(max(clk.aim, clk.elapsed.Load()+1))
		c.wake()
	}
	require.Nil(t, s.timers)
	require.Equal(t, n, touched)
	require.NoError(t, c.check())
}

// A crowd may also grow by timers that are moved to one slot, or set in memory that is used
// again. The wheel wakes to prepare it, too.
func TestCrowdOfMovedTimersIsGatheredInTime(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handClock{}
	c := twoShards(t, clk)
	s := c.shards[0]
	for i := range uint64(n) {
		setOn(c, 0, int64(1+i)*int64(time.Hour), func() {})
	}
	c.wake()
	for i := range uint64(n) {
		timer := c.shards[0].timers.Arena().At(uint32(1 + i + i/2047))
		require.True(t, s.reset(uint32(1+i+i/2047), timer.Generation(), time.Duration(base+1<<29+int64(i*0x9E3779B97F4A7C15>>35))))
	}
	require.Less(t, clk.aim, base)
	for s.timers.Cascaded() < n*9/10 {
		require.Less(t, clk.aim, base)
		clk.elapsed.Store(clk.aim)
		c.wake()
		require.NoError(t, c.check())
	}
}

func TestKeysMovedToOneInstant(t *testing.T) {
	const n = 100_000
	synctest.Test(t, func(t *testing.T) {
		var fired atomic.Int64
		w, err := NewKeyed(Config{Clock: clock.System(), Executor: Inline}, func(int, int) { fired.Add(1) })
		require.NoError(t, err)
		defer w.Stop()
		for k := range n {
			_ = w.Set(k, k, time.Second)
		}
		for k := range n {
			_, _ = w.Move(k*7919%n, time.Second)
		}
		require.EqualValues(t, n, w.Stats().Moved)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, n, fired.Load())
		require.Zero(t, w.Len())
	})
}

func TestStoppedKeyedHoldsNoIndex(t *testing.T) {
	w, err := NewKeyed(Config{Clock: &handClock{}, Shards: 4}, func(int, int) {})
	require.NoError(t, err)
	for k := range 10_000 {
		require.NoError(t, w.Set(k, k, time.Hour))
	}
	w.Stop()
	for i := range w.index {
		require.Nil(t, w.index[i].segments)
		require.Nil(t, w.core.shards[i].timers)
	}
	_, _, ok := w.Get(1)
	require.False(t, ok)
}
