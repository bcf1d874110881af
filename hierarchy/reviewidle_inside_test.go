package hierarchy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

// An Idle that was touched is put off in a review, shortly before the timer would be due. It
// is neither put off when that is long to go, nor if it was not touched, nor is it ended.
func TestReviewPutsOffWhatWasTouched(t *testing.T) {
	c := &handclock.Clock{}
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
		c.Time.Store(int64(elapsed))
		c.Review()
	}
	at(10 * time.Minute)
	require.True(t, idle.Touch())
	at(time.Hour - time.Second - 1)
	require.Equal(t, time.Hour, time.Duration(c.AimedAt()))
	at(time.Hour - time.Second)
	require.Equal(t, 70*time.Minute, time.Duration(c.AimedAt()))
	require.EqualValues(t, 1, w.Stats().Moved)
	require.True(t, idle.Touch()) // due at two hours less a second
	at(70 * time.Minute)
	c.Ring()
	require.Equal(t, 90*time.Minute, time.Duration(c.AimedAt()))
	at(90*time.Minute - 1)
	require.Equal(t, 90*time.Minute, time.Duration(c.AimedAt()))
	require.Zero(t, fired)
	at(90 * time.Minute)
	c.Ring()
	require.Equal(t, 100, fired)
	at(2*time.Hour - time.Second - 1)
	require.Equal(t, 2*time.Hour-time.Second, time.Duration(c.AimedAt()))
	require.True(t, idle.Touch(), "the review has not ended it")
	at(3 * time.Hour)
	c.Ring()
	require.Equal(t, 101, fired)
	require.False(t, idle.Touch())
}
