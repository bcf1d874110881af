package engine

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/epicycle-go/epicycle/level/arena"
)

// twoShards returns a wheel with two shards. It runs callbacks in the goroutine that wakes
// it.
func twoShards(c *handclock.Clock) *Core[func()] {
	cfg := inline(c, 2, time.Millisecond)
	cfg.Few = few
	return newWheel(cfg)
}

// setOn sets a timer on a shard.
func setOn(c *Core[func()], shard int, deadline int64, f func()) {
	s := c.Shards[shard]
	s.Mu.Lock()
	_, _, wakeBy := s.set(f, c.Now(), deadline, 0)
	s.unlockFor(wakeBy)
}

// If callbacks set their timers again without a delay, one timer of their shard is always
// due. The timers of other shards still get their turn.
func TestShardThatIsNeverDone(t *testing.T) {
	clk := &handclock.Clock{Tick: 1}
	c := twoShards(clk)
	runs, waited := 0, -1
	var again func()
	again = func() {
		if runs++; runs == 10 {
			setOn(c, 1, c.Now(), func() { waited = runs })
		}
		if runs < 100*yieldEvery {
			setOn(c, 0, c.Now(), again)
		}
	}
	for range yieldEvery {
		setOn(c, 0, c.Now(), again)
	}
	c.wake()
	require.Positive(t, waited, "the timer of the other shard never fired")
	require.LessOrEqual(t, waited, 4*yieldEvery)
}

// A timer counts as in flight from the moment it is taken out of its shard, so that
// Shutdown waits for it.
func TestShutdownWaitsForRounds(t *testing.T) {
	clk := &handclock.Clock{}
	c := twoShards(clk)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var waits []error
	c.OnFire = func(int, uint32) { waits = append(waits, c.inFlight.wait(over)) }
	fired := false
	setOn(c, 0, 1, func() { fired = true })
	clk.Time.Store(1)
	c.wake()
	require.Equal(t, []error{context.Canceled}, waits)
	require.True(t, fired)
	require.NoError(t, c.Shutdown(over), "nothing is in flight any more")
}

// The cascade of a crowd on one shard delays a due timer of another shard by at most one
// budget.
func TestCascadeOfAnotherShard(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handclock.Clock{}
	c := twoShards(clk)
	c.Tuning.LeadTime = 0      // nothing is cascaded ahead
	for i := range uint64(n) { // in the second half of one slot, in random order
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() {})
	}
	setOn(c, 0, 1, func() {}) // when it has fired, the shard knows where the slot starts
	clk.Time.Store(1)
	c.wake()
	require.Equal(t, bound(base), c.Shards[0].notBefore.load())

	carried := uint64(math.MaxUint64)
	setOn(c, 1, base+1<<28, func() { carried = c.Shards[0].Timers.Cascaded() })
	clk.Time.Store(base + 1<<28)
	c.wake()
	require.Positive(t, carried, "the cascade had not begun, so this tested nothing")
	require.LessOrEqual(t, carried, uint64(2*batch))
	require.GreaterOrEqual(t, c.Shards[0].Timers.Cascaded(), uint64(n), "the rest of the crowd must cascade afterwards")
	require.NoError(t, c.Check())
}

// A short timer in the same slot as a crowd does not wait for the crowd, which was cascaded ahead.
func TestShortTimerOvertakesCrowd(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handclock.Clock{Tick: 1000}
	c := twoShards(clk)
	for i := range uint64(n) { // in random order
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() {})
	}
	s, visited := c.Shards[0], -1
	setOn(c, 0, base+10_000, func() { visited = s.Timers.Visited() - visited })
	for clk.AimedAt() < base {
		clk.Time.Store(clk.AimedAt())
		c.wake()
	}
	require.GreaterOrEqual(t, s.Timers.Cascaded(), uint64(n), "the crowd was not cascaded ahead, so this tests nothing")
	visited = s.Timers.Visited()
	clk.Time.Store(base + 10_000)
	c.wake()
	require.LessOrEqual(t, visited, 2*batch)
	require.NoError(t, c.Check())
}

// A crowd is cascaded ahead. The wheel wakes for that although no timer is due. When the hand comes to the
// crowd's slot, only the timers of one finer slot are moved.
func TestCrowdComesDownInTime(t *testing.T) {
	const n, base = 50_000, int64(8) << 30
	clk := &handclock.Clock{}
	c := twoShards(clk)
	fired := 0
	for i := range uint64(n) {
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() { fired++ })
	}
	s := c.Shards[0]
	for s.Timers.Cascaded() == 0 { // until the crowd is cascaded ahead
		require.Less(t, clk.AimedAt(), base)
		clk.Time.Store(clk.AimedAt())
		c.wake()
		require.NoError(t, c.Check())
	}
	require.Greater(t, clk.AimedAt(), base, "nothing has to be done when its slot begins")
	require.EqualValues(t, n, s.Timers.Cascaded())
	require.Equal(t, n, s.Timers.InSlot(c.layout.Base(), 8))
	clk.Time.Store(clk.AimedAt())
	c.wake()
	require.NoError(t, c.Check())
	require.Greater(t, s.Timers.Cascaded(), uint64(n))
	require.Less(t, s.Timers.Cascaded(), uint64(n+n/8))
	require.Zero(t, fired)
	for fired < n {
		clk.Time.Store(max(clk.AimedAt(), clk.Time.Load()+1))
		c.wake()
	}
	require.NoError(t, c.Check())
}

// A crowd that is not too large is gathered instead. The wheel wakes for that although no timer
// is due, and knows then when the first will be.
func TestSmallCrowdIsGatheredInTime(t *testing.T) {
	const n, base = 10_000, int64(8) << 30
	clk := &handclock.Clock{}
	c := twoShards(clk)
	earliest, fired, touched := int64(math.MaxInt64), 0, 0
	c.Touch = func(func()) { touched++ }
	for i := range uint64(n) {
		at := base + 1<<29 + int64(i*0x9E3779B97F4A7C15>>35)
		earliest = min(earliest, at)
		setOn(c, 0, at, func() {
			require.GreaterOrEqual(t, clk.Time.Load(), at)
			fired++
		})
	}
	s := c.Shards[0]
	for s.Timers.Cascaded() < n {
		require.Less(t, clk.AimedAt(), base)
		clk.Time.Store(clk.AimedAt())
		c.wake()
		require.NoError(t, c.Check())
	}
	require.Equal(t, earliest, clk.AimedAt())
	require.Equal(t, n, s.Timers.InSlot(c.layout.Base(), 8))
	require.Zero(t, fired)
	for fired < n {
		clk.Time.Store(max(clk.AimedAt(), clk.Time.Load()+1))
		c.wake()
	}
	require.Nil(t, s.Timers)
	require.Equal(t, n, touched)
	require.NoError(t, c.Check())
}

// A crowd may also grow by timers that are moved to one slot, or set in memory that is used
// again. The wheel wakes to prepare it, too.
func TestCrowdOfMovedTimersIsGatheredInTime(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handclock.Clock{}
	c := twoShards(clk)
	s := c.Shards[0]
	for i := range uint64(n) {
		setOn(c, 0, int64(1+i)*int64(time.Hour), func() {})
	}
	c.wake()
	order := uint64(0)
	s.Timers.Arena().Each(func(i uint32, timer *arena.Node) {
		order++
		require.True(t, s.reset(i, timer.Generation(), time.Duration(base+1<<29+int64(order*0x9E3779B97F4A7C15>>35))))
	})
	require.Less(t, clk.AimedAt(), base)
	for s.Timers.Cascaded() < n*9/10 {
		require.Less(t, clk.AimedAt(), base)
		clk.Time.Store(clk.AimedAt())
		c.wake()
		require.NoError(t, c.Check())
	}
}
