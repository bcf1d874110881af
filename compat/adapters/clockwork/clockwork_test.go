package clockwork_test

import (
	"testing"
	"time"

	original "github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/clockwork"
	"github.com/epicycle-go/epicycle/compat/adapters/internal/adaptertest"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ func(*hierarchy.Wheel) original.Clock = clockwork.New

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Adapter{
		Name: "clockwork",
		Real: common(original.NewRealClock()),
		New:  func(w *hierarchy.Wheel) adaptertest.Clock { return common(clockwork.New(w)) },
	})
}

func common(c original.Clock) adaptertest.Clock {
	return adaptertest.Clock{
		Now: c.Now, Since: c.Since, Sleep: c.Sleep, After: c.After,
		NewTimer:  func(d time.Duration) adaptertest.Timer { return c.NewTimer(d) },
		AfterFunc: func(d time.Duration, f func()) adaptertest.Timer { return c.AfterFunc(d, f) },
		NewTicker: func(d time.Duration) adaptertest.Ticker {
			t := c.NewTicker(d)
			return adaptertest.Ticker{C: t.Chan(), Stop: t.Stop, Reset: t.Reset}
		},
	}
}

// Until and Since are differences to the wall time, which may jump.
func TestUntil(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	c := clockwork.New(w)
	hour := time.Unix(3600, 0)
	require.Equal(t, time.Hour, c.Until(hour))
	m.Add(59 * time.Minute)
	require.Equal(t, time.Minute, c.Until(hour))
	m.Jump(2 * time.Minute)
	require.Equal(t, -time.Minute, c.Until(hour))
	require.Equal(t, time.Minute, c.Since(hour))
}
