package hierarchy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// reviewClock is a handClock that can ask the wheel whether it needs its alarm.
type reviewClock struct {
	handClock
	review func()
}

func (c *reviewClock) NewAlarm(ring func()) clock.Alarm {
	c.handClock.NewAlarm(ring)
	return reviewAlarm{c}
}

type reviewAlarm struct{ *reviewClock }

func (a reviewAlarm) Review(f func()) { a.review = f }

// onReviewClock makes a wheel whose shards are all in use, one after the other.
func onReviewClock(t *testing.T, shards int) (c *reviewClock, w *Of[int], fired *int) {
	c, fired = &reviewClock{}, new(int)
	w, err := NewOf(Config{Clock: c, Shards: shards, Executor: Inline, Precision: 1}, func(int) { *fired++ })
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return c, w, fired
}

// setFor sets a timer on that shard.
func setFor(w *Of[int], shard int, d time.Duration) Timer {
	s := w.core.shards[shard]
	now := w.core.now()
	s.mu.Lock()
	i, generation, wakeAt := s.set(0, now, now+int64(d), 0)
	s.unlock(wakeAt)
	return Timer{s, generation, i}
}

func (c *reviewClock) aimedAt() time.Duration {
	if !c.aimed {
		return 0
	}
	return time.Duration(c.aim)
}

// Stopping timers leaves the alarm as it is. A review moves it to the next timer, on whichever
// shard that is, or stops it. It wakes nothing.
func TestReviewFindsTheNextTimer(t *testing.T) {
	const shards = 8
	c, w, _ := onReviewClock(t, shards)
	var timers []Timer
	for i := range 3 * shards {
		timers = append(timers, setFor(w, i%shards, time.Second+time.Duration(i)))
	}
	for i, timer := range timers {
		c.review()
		require.Equal(t, time.Second+time.Duration(i), c.aimedAt())
		require.True(t, timer.Stop())
		require.Equal(t, time.Second+time.Duration(i), c.aimedAt())
	}
	c.review()
	require.False(t, c.aimed)
	require.Zero(t, w.Stats().Wakeups)
	setFor(w, 0, time.Hour)
	require.Equal(t, time.Hour, c.aimedAt())
}

// After several timers were stopped one review finds the one that is left.
func TestReviewLooksAtAllShards(t *testing.T) {
	const shards = 8
	c, w, _ := onReviewClock(t, shards)
	for i := range 10 * shards {
		require.True(t, setFor(w, i%shards, time.Second+time.Duration(i)).Stop())
	}
	left := setFor(w, 3, time.Minute)
	c.review()
	require.Equal(t, time.Minute, c.aimedAt())
	require.True(t, left.Stop())
	c.review()
	require.False(t, c.aimed)
}

// A wake-up that finds nothing due finds out what is due next on all shards, so it is the only
// one in vain.
func TestWakeUpInVainIsTheLast(t *testing.T) {
	const shards = 8
	c, w, _ := onReviewClock(t, shards)
	for i := range 10 * shards {
		require.True(t, setFor(w, i%shards, time.Second+time.Duration(i)).Stop())
	}
	c.elapsed.Store(c.aim)
	c.Stop()
	c.ring()
	require.False(t, c.aimed)
	require.EqualValues(t, 1, w.Stats().Wakeups)
}

// A round aims the alarm at the first timer of a small crowd, not at the time when its slot begins.
func TestRoundKnowsTheFirstOfACrowd(t *testing.T) {
	const n, first = 100, 5 * time.Minute
	c, w, _ := onReviewClock(t, 1)
	for i := range n {
		setFor(w, 0, first+time.Duration(n-1-i)*100*time.Millisecond)
	}
	setFor(w, 0, 10)
	c.elapsed.Store(10)
	c.ring()
	require.Equal(t, first, c.aimedAt())
	c.review()
	require.Equal(t, first, c.aimedAt())
}

// What is due during a review stays for the ring.
func TestReviewFiresNothing(t *testing.T) {
	c, w, fired := onReviewClock(t, 2)
	setFor(w, 1, 5)
	c.elapsed.Store(10)
	c.review()
	require.Equal(t, time.Duration(5), c.aimedAt())
	require.Zero(t, *fired)
	c.ring()
	require.Equal(t, 1, *fired)
}

func TestReviewOfAStoppedWheel(t *testing.T) {
	c, w, _ := onReviewClock(t, 2)
	setFor(w, 1, 5)
	w.Stop()
	c.review()
	require.False(t, c.aimed)
}

// An Idle that was touched is put off in a review, shortly before the timer would be due. It
// is neither put off when that is long to go, nor if it was not touched, nor is it ended.
func TestReviewPutsOffWhatWasTouched(t *testing.T) {
	c := &reviewClock{}
	w, err := New(Config{Clock: c, Shards: 1, Executor: Inline, Precision: 1})
	require.NoError(t, err)
	defer w.Stop()
	fired := 0
	idle, err := w.NewIdle(time.Hour, func() { fired++ })
	require.NoError(t, err)
	again, err := w.NewFunc(func() { fired += 100 })
	require.NoError(t, err)
	again.Reset(90 * time.Minute)

	at := func(elapsed time.Duration) {
		c.elapsed.Store(int64(elapsed))
		c.review()
	}
	at(10 * time.Minute)
	require.True(t, idle.Touch())
	at(time.Hour - time.Second - 1)
	require.Equal(t, time.Hour, c.aimedAt())
	at(time.Hour - time.Second)
	require.Equal(t, 70*time.Minute, c.aimedAt())
	require.EqualValues(t, 1, w.Stats().Moved)
	require.True(t, idle.Touch()) // due at two hours less a second
	at(70 * time.Minute)
	c.ring()
	require.Equal(t, 90*time.Minute, c.aimedAt())
	at(90*time.Minute - 1)
	require.Equal(t, 90*time.Minute, c.aimedAt())
	require.Zero(t, fired)
	at(90 * time.Minute)
	c.ring()
	require.Equal(t, 100, fired)
	at(2*time.Hour - time.Second - 1)
	require.Equal(t, 2*time.Hour-time.Second, c.aimedAt())
	require.True(t, idle.Touch(), "the review has not ended it")
	at(3 * time.Hour)
	c.ring()
	require.Equal(t, 101, fired)
	require.False(t, idle.Touch())
}
