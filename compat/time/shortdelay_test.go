package time_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
	"github.com/epicycle-go/epicycle/compat/time"
)

// passing is a clock on which time passes from reading to reading. Its alarms never ring.
type passing struct{ elapsed atomic.Int64 }

func (c *passing) Now() time.Time              { return time.Unix(0, c.elapsed.Load()) }
func (c *passing) Elapsed() time.Duration      { return time.Duration(c.elapsed.Add(100)) }
func (c *passing) NewAlarm(func()) clock.Alarm { return c }
func (c *passing) Set(time.Duration)           {}
func (c *passing) Stop()                       {}

// What is due by the time the call returns is done then.
func TestShortDelayEndsWithinTheCall(t *testing.T) {
	p := process.New(&passing{})
	defer p.Stop()
	defer process.Use(p)()
	time.ForgetCrowds()
	time.Sleep(1)
	timer := time.NewTimer(1)
	require.True(t, received(timer.C))
	timer.Reset(1)
	require.True(t, received(timer.C))
	timer.Reset(time.Hour)
	require.True(t, timer.Reset(1))
	require.True(t, received(timer.C))
	require.False(t, timer.Stop())
	require.Zero(t, p.Len())
}
