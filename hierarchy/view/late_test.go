package view

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// lateClock rings its alarm when the test says so, as late as it likes.
type lateClock struct {
	elapsed atomic.Int64
	ring    func()
}

func (c *lateClock) Now() time.Time                   { return time.Unix(0, c.elapsed.Load()) }
func (c *lateClock) Elapsed() time.Duration           { return time.Duration(c.elapsed.Load()) }
func (c *lateClock) NewAlarm(ring func()) clock.Alarm { c.ring = ring; return c }
func (*lateClock) Set(time.Duration)                  {}
func (*lateClock) Stop()                              {}

// lateWheel is a wheel whose timers fire as late as the test says.
type lateWheel struct {
	*hierarchy.Wheel
	t     testing.TB
	clock *lateClock
}

func newLateWheel(t testing.TB) *lateWheel {
	t.Helper()
	c := &lateClock{}
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return &lateWheel{w, t, c}
}

func (w *lateWheel) fire(late ...time.Duration) {
	for _, d := range late {
		_, err := w.AfterFunc(time.Second, func() {})
		require.NoError(w.t, err)
		w.clock.elapsed.Add(int64(time.Second + d))
		w.clock.ring()
	}
}
