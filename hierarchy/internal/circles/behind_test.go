package circles

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level"
)

// A crowd in one slot, larger than may be gathered at once, is spread over smaller slots and
// gathered there, whether the wheel keeps up or each timer takes longer than the time to the
// next one. Nearly all timers then fire from queues, and there are never many of these.
func TestLargeCrowdIsGatheredInParts(t *testing.T) {
	const n, span, begin = 100_000, 100_000_000, int64(8)<<30 + 300_000_000
	for _, cost := range []int64{600, 1100, 5000} {
		r := rand.New(rand.NewPCG(1, uint64(cost)))
		c := newCircles(time.Second)
		touched := 0
		c.GatherCrowds(func(uint32) { touched++ })
		for i := range uint64(n) {
			c.Add(0, begin+r.Int64N(span), i+1, 0)
		}
		now, fired, queued, latest := int64(0), 0, 0, int64(0)
		for fired < n {
			switch v := c.Next(now, batch); v.State {
			case NotBefore:
				require.Greater(t, v.At, now)
				now = v.At
			case AskAgain:
				now += 60 * batch
			case Due:
				fired++
				if c.arena.At(v.Node).Circle() == level.Gathered {
					queued++
				}
				latest = max(latest, now-v.At)
				require.LessOrEqual(t, len(c.queues), 3)
				c.Remove(v.Node, c.arena.At(v.Node))
				now += cost
			}
		}
		require.Greater(t, queued, n*9/10)
		require.GreaterOrEqual(t, touched, queued)
		require.Less(t, c.Cascaded(), uint64(n*22/10))
		behind := max(0, cost-span/n) * n
		require.Less(t, latest, behind+int64(time.Millisecond))
		c.Next(now, batch)
		require.Empty(t, c.buffers)
	}
}

// Timers that are set while a crowd is gathered fire between those of the crowd, in order of
// deadline.
func TestQueueAndSlotsFireInOrder(t *testing.T) {
	const n, span, begin = 10_000, 10_000_000, int64(8) << 30
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	c.GatherCrowds(func(uint32) {})
	seq := uint64(0)
	add := func(at int64) {
		seq++
		c.Add(begin-1, at, seq, 0)
	}
	for range n {
		add(begin + r.Int64N(span))
	}
	for c.inQueues < n || c.next != nil {
		c.Next(begin-1, batch)
	}
	for range n / 10 {
		add(begin + r.Int64N(span))
	}
	last, fired := int64(0), 0
	for now := begin; fired < n+n/10; {
		switch v := c.Next(now, batch); v.State {
		case NotBefore:
			now = v.At + 100_000 // many are due at once
		case Due:
			require.GreaterOrEqual(t, v.At, last)
			last = v.At
			c.Remove(v.Node, c.arena.At(v.Node))
			fired++
		}
	}
}

// While timers of a queue are due, one that is set meanwhile, in a slot, does not have the next
// crowd gathered at their expense: each goes through a few nodes only.
func TestTimersInSlotsHurryNoCrowd(t *testing.T) {
	const n, slots, begin, window = 80_000, 8, int64(8) << 30, 64
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	c.GatherCrowds(func(uint32) {})
	for i := range uint64(n) {
		c.Add(0, begin+r.Int64N(slots<<24), i+1, 0)
	}
	for c.inQueues == 0 || c.next != nil {
		c.Next(begin-1, batch)
	}
	most, before := 0, c.Visited()
	for fired := 1; c.arena.Len() > 0; {
		v := c.Next(begin+slots<<24, batch)
		if v.State != Due {
			before = c.Visited()
			continue
		}
		c.Remove(v.Node, c.arena.At(v.Node))
		if fired++; fired%window == 0 {
			most = max(most, c.Visited()-before)
			before = c.Visited()
			c.Add(v.At, v.At+100_000, uint64(n+fired), 0)
		}
	}
	require.Positive(t, most, "none was prepared while others were due")
	require.LessOrEqual(t, most, 4*window)
}

// A wheel that is behind may fire the last of a crowd when other timers are already due. It
// gives the memory for gathering back as soon as it has caught up.
func TestMemoryGoesBackIfTheWheelIsBehind(t *testing.T) {
	const crowd, others, begin = 10_000, 10, int64(8) << 30
	r := rand.New(rand.NewPCG(1, 1))
	c := newCircles(time.Second)
	c.GatherCrowds(func(uint32) {})
	for i := range uint64(crowd) {
		c.Add(0, begin+r.Int64N(10_000_000), i+1, 0)
		c.Add(0, 100*begin+r.Int64N(begin), i+1+crowd, 0)
	}
	for i := range int64(others) {
		c.Add(0, 2*begin+i<<20, uint64(2*crowd+i+1), 0)
	}
	for c.inQueues < crowd || c.next != nil {
		c.Next(begin-1, batch)
	}
	for fired := 0; fired < crowd+others; {
		if v := c.Next(3*begin, batch); v.State == Due {
			c.Remove(v.Node, c.arena.At(v.Node))
			fired++
		}
	}
	require.NotZero(t, len(c.buffers))
	for c.Next(3*begin, batch).State == AskAgain {
	}
	require.Zero(t, len(c.buffers))
	require.Nil(t, c.idle)
}
