package engine

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// onReviewClock makes a wheel whose shards are all in use, one after the other.
func onReviewClock(t *testing.T, shards int) (c *handclock.Clock, w *Core[int], fired *int) {
	c, fired = &handclock.Clock{}, new(int)
	w = New(inline(c, shards, 1), func(int) { *fired++ })
	t.Cleanup(w.Stop)
	return c, w, fired
}

// setFor sets a timer on that shard.
func setFor(w *Core[int], shard int, d time.Duration) Handle {
	s := w.Shards[shard]
	now := w.Now()
	s.Mu.Lock()
	i, generation, wakeBy := s.set(0, now, now+int64(d), 0)
	s.unlockFor(wakeBy)
	return Handle{s, generation, i}
}

// Stopping timers leaves the alarm as it is. A review moves it to the next timer, on whichever
// shard that is, or stops it. It wakes nothing.
func TestReviewFindsTheNextTimer(t *testing.T) {
	const shards = 8
	c, w, _ := onReviewClock(t, shards)
	var timers []Handle
	for i := range 3 * shards {
		timers = append(timers, setFor(w, i%shards, time.Second+time.Duration(i)))
	}
	for i, timer := range timers {
		c.Review()
		require.Equal(t, time.Second+time.Duration(i), time.Duration(c.AimedAt()))
		require.True(t, timer.Stop())
		require.Equal(t, time.Second+time.Duration(i), time.Duration(c.AimedAt()))
	}
	c.Review()
	require.False(t, c.Aimed())
	require.Zero(t, w.aim.count())
	setFor(w, 0, time.Hour)
	require.Equal(t, time.Hour, time.Duration(c.AimedAt()))
}

// After several timers were stopped one review finds the one that is left.
func TestReviewLooksAtAllShards(t *testing.T) {
	const shards = 8
	c, w, _ := onReviewClock(t, shards)
	for i := range 10 * shards {
		require.True(t, setFor(w, i%shards, time.Second+time.Duration(i)).Stop())
	}
	left := setFor(w, 3, time.Minute)
	c.Review()
	require.Equal(t, time.Minute, time.Duration(c.AimedAt()))
	require.True(t, left.Stop())
	c.Review()
	require.False(t, c.Aimed())
}

// A wake-up that finds nothing due finds out what is due next on all shards, so it is the only
// one in vain.
func TestWakeUpInVainIsTheLast(t *testing.T) {
	const shards = 8
	c, w, _ := onReviewClock(t, shards)
	for i := range 10 * shards {
		require.True(t, setFor(w, i%shards, time.Second+time.Duration(i)).Stop())
	}
	c.Time.Store(c.AimedAt())
	c.Disarm()
	c.Ring()
	require.False(t, c.Aimed())
	require.EqualValues(t, 1, w.aim.count())
}

// A round aims the alarm at the first timer of a small crowd, not at the time when its slot begins.
func TestRoundKnowsTheFirstOfACrowd(t *testing.T) {
	const n, first = 100, 5 * time.Minute
	c, w, _ := onReviewClock(t, 1)
	for i := range n {
		setFor(w, 0, first+time.Duration(n-1-i)*100*time.Millisecond)
	}
	setFor(w, 0, 10)
	c.Time.Store(10)
	c.Ring()
	require.Equal(t, first, time.Duration(c.AimedAt()))
	c.Review()
	require.Equal(t, first, time.Duration(c.AimedAt()))
}

// What is due during a review stays for the ring.
func TestReviewFiresNothing(t *testing.T) {
	c, w, fired := onReviewClock(t, 2)
	setFor(w, 1, 5)
	c.Time.Store(10)
	c.Review()
	require.Equal(t, time.Duration(5), time.Duration(c.AimedAt()))
	require.Zero(t, *fired)
	c.Ring()
	require.Equal(t, 1, *fired)
}

func TestReviewOfAStoppedWheel(t *testing.T) {
	c, w, _ := onReviewClock(t, 2)
	setFor(w, 1, 5)
	w.Stop()
	c.Review()
	require.False(t, c.Aimed())
}
