package partition

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A Crew is full once the last handler that has begun has run for long, while there is no free place.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCrew(2)
		full := func() bool {
			_, ok := c.Full(time.Minute)
			return ok
		}
		first, second := new(attempt), new(attempt)
		require.True(t, c.take(nil))
		c.entered(first)
		time.Sleep(time.Hour)
		require.False(t, full()) // one place is free
		require.True(t, c.take(nil))
		require.False(t, full()) // a handler is about to be called
		c.entered(second)
		began := time.Now()
		time.Sleep(time.Minute - 1)
		require.False(t, full())
		time.Sleep(1)
		since, ok := c.Full(time.Minute)
		require.True(t, ok)
		require.Equal(t, began, since)
		c.waiting = nil
		c.returned(first)
		c.give()
		require.False(t, full())
	})
}
