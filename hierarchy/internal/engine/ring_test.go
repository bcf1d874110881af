package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

// crowded makes a wheel with a crowd that is due all the time from 1 ns on. The clock's alarms may be coarse. few is 0 if
// Precision is set.
func crowded(precision time.Duration, few int) *handclock.Clock {
	c := &handclock.Clock{HasCoarse: true}
	cfg := inline(c, 1, precision)
	cfg.Few = few
	w := newWheel(cfg)
	for i := range int64(10_000) {
		after(w, time.Duration(1+i)*precision/100, nop)
	}
	c.Time.Store(1)
	c.Ring()
	return c
}

// ringLate rings the alarm so long after the time at which it is aimed. It returns when that was.
func ringLate(c *handclock.Clock, late int64) (now int64) {
	now = c.AimedAt() + late
	c.Time.Store(now)
	c.Ring()
	return now
}

// The alarm is coarse for a crowd that is gathered for a millisecond or more, unless Precision is set. The next Precision begins when it rings.
func TestAlarmOfACrowdIsCoarse(t *testing.T) {
	const precision = time.Millisecond
	c := crowded(precision, few)
	for late := range int64(50) {
		require.True(t, c.Coarse())
		require.Equal(t, ringLate(c, late*coarseLate/50)+int64(precision), c.AimedAt())
	}
	c = crowded(precision-1, few)
	for range 50 {
		requireExact(t, c, precision-1)
	}
	c = crowded(precision, 0)
	for range 50 {
		requireExact(t, c, precision)
	}
}

// requireExact rings an alarm that is not coarse, late. The next Precision begins at the time at which it was aimed.
func requireExact(t *testing.T, c *handclock.Clock, precision time.Duration) {
	require.False(t, c.Coarse())
	at := c.AimedAt()
	ringLate(c, 2*coarseLate)
	require.Equal(t, at+int64(precision), c.AimedAt())
}

// Timers that are not gathered get an alarm that is exact.
func TestAlarmOfAFewIsExact(t *testing.T) {
	c := &handclock.Clock{HasCoarse: true}
	cfg := inline(c, 1, time.Millisecond)
	cfg.Few = few
	w := newWheel(cfg)
	for i := range int64(few) {
		after(w, time.Duration(1+i*100_000), nop)
	}
	for c.Aimed() {
		require.False(t, c.Coarse())
		c.Time.Store(c.AimedAt())
		c.Disarm()
		c.Ring()
	}
	require.Zero(t, w.Len())
}

// When a coarse alarm has been too late, as in a process that is woken for other reasons, the next ones are exact.
func TestAlarmIsExactAfterALateRing(t *testing.T) {
	const precision = time.Millisecond
	c := crowded(precision, few)
	for range 3 {
		require.True(t, c.Coarse())
		require.Equal(t, ringLate(c, coarseLate+1)+int64(precision), c.AimedAt())
		for range exactAfterLate {
			requireExact(t, c, precision)
		}
	}
}
