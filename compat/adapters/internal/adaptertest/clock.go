// Package adaptertest has the tests that both adapters must pass.
package adaptertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Clock has the methods that the interfaces of both adapters share, as functions.
type Clock struct {
	Now       func() time.Time
	Since     func(time.Time) time.Duration
	Sleep     func(time.Duration)
	After     func(time.Duration) <-chan time.Time
	NewTimer  func(time.Duration) Timer
	AfterFunc func(time.Duration, func()) Timer
	NewTicker func(time.Duration) Ticker
}

type Timer interface {
	Chan() <-chan time.Time
	Stop() bool
	Reset(time.Duration) bool
}

// Ticker is a ticker. Reset is nil if the interface has none.
type Ticker struct {
	C     <-chan time.Time
	Stop  func()
	Reset func(time.Duration)
}

// Adapter is an adapter under test.
type Adapter struct {
	Name string // the prefix of the adapter's panics
	Real Clock  // the real clock of the library for which the adapter is
	New  func(w *hierarchy.Wheel) Clock
}

// Run runs all tests for a.
func Run(t *testing.T, a Adapter) {
	t.Run("AsReal", a.asReal)
	t.Run("MockTimers", a.mockTimers)
	t.Run("MockTickers", a.mockTickers)
	t.Run("MockSleep", a.mockSleep)
	t.Run("Executor", a.executor)
	t.Run("Full", a.full)
	t.Run("FullSleep", a.fullSleep)
	t.Run("Stopped", a.stopped)
	t.Run("StoppedBefore", a.stoppedBefore)
	t.Run("SleepEndsWithTheWheel", a.sleepEndsWithTheWheel)
	t.Run("Panics", a.panics)
}

// onMock returns a clock on a wheel on a mock.
func (a Adapter) onMock(t *testing.T, cfg hierarchy.Config) (Clock, *hierarchy.Wheel, *clock.Mock) {
	m := clock.NewMock()
	cfg.Clock = m
	w, err := hierarchy.New(cfg)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return a.New(w), w, m
}

// received returns the time that is in c, as the time since the Unix epoch, or -1 if c is empty.
func received(c <-chan time.Time) time.Duration {
	select {
	case at := <-c:
		return at.Sub(time.Unix(0, 0))
	default:
		return -1
	}
}
