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

// twoShards is a wheel of functions, called in the goroutine that wakes it.
func twoShards(t *testing.T, c *handClock) *core[func()] {
	w, err := newCore(Config{Clock: c, Shards: 2, Executor: Inline}, func(f func()) { f() })
	require.NoError(t, err)
	return w
}

// setOn sets a timer on that shard.
func setOn(c *core[func()], shard int, deadline int64, f func()) {
	s := c.shards[shard]
	s.mu.Lock()
	_, _, soonest := s.insert(f, c.now(), deadline, 0)
	earlier := s.lower(soonest)
	s.mu.Unlock()
	c.announce(earlier, soonest)
}

// Timers that set themselves again without a delay always have one due on their
// shard. Another shard gets its turn nevertheless.
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
	c.wake(math.MaxUint64)
	require.Positive(t, waited, "never called")
	require.LessOrEqual(t, waited, 4*yieldEvery)
}

// What is being taken out of its shard is under way, so that Shutdown waits for
// it, before anything else is done about it.
func TestShutdownWaitsForRounds(t *testing.T) {
	clk := &handClock{}
	c := twoShards(t, clk)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var waits []error
	c.leaves = func(int, uint32) { waits = append(waits, c.work.wait(over)) }
	fired := false
	setOn(c, 0, 1, func() { fired = true })
	clk.elapsed.Store(1)
	c.wake(math.MaxUint64)
	require.Equal(t, []error{context.Canceled}, waits)
	require.True(t, fired)
	require.NoError(t, c.shutdown(over), "all is done")
}

// A crowd that comes down on one shard holds up a due timer of another for no
// more than a budget.
func TestCascadeOfAnotherShard(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handClock{}
	c := twoShards(t, clk)
	c.layout.foreseen = math.MaxInt // else it would come down in time
	for i := range uint64(n) {      // in one slot, in no order, its second half
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() {})
	}
	setOn(c, 0, 1, func() {}) // after it, the shard knows where the slot starts
	clk.elapsed.Store(1)
	c.wake(math.MaxUint64)
	require.Equal(t, base, c.shards[0].notBefore.Load())

	carried := uint64(math.MaxUint64)
	setOn(c, 1, base+1<<28, func() { carried = c.shards[0].timers.cascaded })
	clk.elapsed.Store(base + 1<<28)
	c.wake(math.MaxUint64)
	require.Positive(t, carried, "else there was nothing to wait for")
	require.LessOrEqual(t, carried, uint64(2*budget))
	require.GreaterOrEqual(t, c.shards[0].timers.cascaded, uint64(n), "the rest follows")
	require.NoError(t, c.check())
}

// A short timer that was set among a crowd, since the crowd's slot comes before its
// deadline, does not wait until the crowd has come down.
func TestShortTimerOvertakesCrowd(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handClock{tick: 1000}
	c := twoShards(t, clk)
	c.layout.foreseen = math.MaxInt // else it would come down in time
	for i := range uint64(n) {      // in no order
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() {})
	}
	carried := uint64(math.MaxUint64)
	setOn(c, 0, base+10_000, func() { carried = c.shards[0].timers.cascaded })
	setOn(c, 0, 1, func() {}) // after it, the shard knows where the slot starts
	c.wake(math.MaxUint64)
	require.Equal(t, base, c.shards[0].notBefore.Load())
	clk.elapsed.Store(base)
	c.wake(math.MaxUint64)
	require.Positive(t, carried, "else there was nothing to wait for")
	require.LessOrEqual(t, carried, uint64(12*budget), "it is due ten readings of the clock later, each after a budget")
	require.GreaterOrEqual(t, c.shards[0].timers.cascaded, uint64(n), "the rest follows")
	require.NoError(t, c.check())
}

// A crowd comes down before its time: the wheel, which nothing else would wake, is
// awake for that, and when the first is due only those of its finer slot are moved.
func TestCrowdComesDownInTime(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	clk := &handClock{}
	c := twoShards(t, clk)
	fired := 0
	for i := range uint64(n) {
		setOn(c, 0, base+1<<29+int64(i*0x9E3779B97F4A7C15>>35), func() { fired++ })
	}
	s := c.shards[0]
	for s.timers.empty() { // nothing is ahead
		require.Less(t, clk.aim, base)
		clk.elapsed.Store(clk.aim)
		c.wake(math.MaxUint64)
		require.NoError(t, c.check())
	}
	require.Equal(t, base, clk.aim)
	require.EqualValues(t, n, s.timers.cascaded)
	require.Equal(t, n, s.timers.circles.len(c.layout.base, 8))
	clk.elapsed.Store(base)
	c.wake(math.MaxUint64)
	require.NoError(t, c.check())
	require.Less(t, s.timers.cascaded, uint64(n+n/8))
	require.Zero(t, fired)
	for fired < n {
		clk.elapsed.Store(max(clk.aim, clk.elapsed.Load()+1))
		c.wake(math.MaxUint64)
	}
	require.NoError(t, c.check())
}

// Equal deadlines in no order are taken as they come: sorting a crowd is more
// than may be done under one hold of the lock.
func TestCrowdOfOneInstantIsNotSorted(t *testing.T) {
	const n, at = 10_000, int64(time.Second)
	c := circles{layout: newLayout(time.Second)}
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = c.add(0, at, uint64(i+1), 0)
	}
	for i := range ids {
		id := ids[i*7919%n]
		c.move(id, c.arena.At(id), 0, at, uint64(n+i+1))
	}
	again := 0
	for left := n; left > 0; {
		i, due := c.next(at, budget)
		if i == 0 {
			again++
			require.Less(t, again, n, "no end")
			continue
		}
		require.Equal(t, at, due)
		node := c.arena.At(i)
		if l := &c.circle[node.Circle()]; l.Len(node.Slot()) > c.crowd {
			require.False(t, l.Sorted(node.Slot()), "sorted, with %d left", left)
		}
		c.remove(i, node)
		left--
	}
	require.LessOrEqual(t, c.cascaded, uint64(n*c.levels))
	require.LessOrEqual(t, again, int(c.cascaded)/budget+c.levels)
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

type large [4 << 10]byte

// chunksOf is how many chunks of values a wheel of one shard has.
func chunksOf(t *testing.T, w *Of[large]) (chunks int) {
	for _, c := range w.core.shards[0].timers.values.chunks {
		require.LessOrEqual(t, len(c)*len(large{}), largestChunk)
		if c != nil {
			chunks++
		}
	}
	return chunks
}

// Large values come in small chunks, so that no call has to clear megabytes, and
// these go back as timers go.
func TestLargeValues(t *testing.T) {
	const n = 6 << 11 // six chunks of the arena
	clk, wrong, next := &handClock{}, 0, 0
	w, err := NewOf(Config{Clock: clk, Shards: 1, Executor: Inline}, func(v large) {
		if int(v[0])|int(v[len(v)-1])<<8 != next {
			wrong++
		}
		next++
	})
	require.NoError(t, err)
	const perChunk = largestChunk / len(large{})
	for i := range n {
		before := 0
		if i > 0 {
			before = len(w.core.shards[0].timers.values.chunks)
		}
		_, err := w.Set(large{0: byte(i), len(large{}) - 1: byte(i >> 8)}, time.Second)
		require.NoError(t, err)
		require.LessOrEqual(t, len(w.core.shards[0].timers.values.chunks), before+1)
	}
	require.InDelta(t, n/perChunk, chunksOf(t, w), 2)
	_, err = w.Set(large{0: n & 0xff, len(large{}) - 1: n >> 8}, 2*time.Second)
	require.NoError(t, err)
	clk.elapsed.Store(int64(time.Second))
	clk.ring()
	require.Equal(t, n, next)
	require.Zero(t, wrong)
	require.LessOrEqual(t, chunksOf(t, w), 3*(1<<11)/perChunk, "the arena keeps one empty chunk, that of the last, and that of the next")
	clk.elapsed.Store(int64(2 * time.Second))
	clk.ring()
	require.Equal(t, n+1, next)
	require.Zero(t, wrong)
	require.Nil(t, w.core.shards[0].timers)
}
