package partition

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A Crew is full once the last free place was taken long ago, whatever holds the places: a handler, or what follows it.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCrew(2)
		full := func() bool {
			_, ok := c.Full(time.Minute)
			return ok
		}
		require.True(t, c.take(nil))
		time.Sleep(time.Hour)
		require.False(t, full()) // one place is free
		require.True(t, c.take(nil))
		took := time.Now()
		time.Sleep(time.Minute - 1)
		require.False(t, full())
		time.Sleep(time.Nanosecond)
		since, ok := c.Full(time.Minute)
		require.True(t, ok)
		require.Equal(t, took, since)
		c.give()
		require.False(t, full())
		require.True(t, c.take(nil))
		require.False(t, full()) // one came free meanwhile
	})
}
