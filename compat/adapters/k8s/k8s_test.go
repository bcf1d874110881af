package k8s_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	original "k8s.io/utils/clock"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/internal/adaptertest"
	"github.com/epicycle-go/epicycle/compat/adapters/k8s"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ func(*hierarchy.Wheel) original.WithTickerAndDelayedExecution = k8s.New

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Adapter{
		Name: "k8s",
		Real: common(original.RealClock{}),
		New:  func(w *hierarchy.Wheel) adaptertest.Clock { return common(k8s.New(w)) },
	})
}

func common(c original.WithTickerAndDelayedExecution) adaptertest.Clock {
	return adaptertest.Clock{
		Now: c.Now, Since: c.Since, Sleep: c.Sleep, After: c.After,
		NewTimer:  func(d time.Duration) adaptertest.Timer { return timer{c.NewTimer(d)} },
		AfterFunc: func(d time.Duration, f func()) adaptertest.Timer { return timer{c.AfterFunc(d, f)} },
		NewTicker: func(d time.Duration) adaptertest.Ticker {
			t := c.NewTicker(d)
			return adaptertest.Ticker{C: t.C(), Stop: t.Stop}
		},
	}
}

type timer struct{ original.Timer }

func (t timer) Chan() <-chan time.Time { return t.C() }

func TestTick(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	c := k8s.New(w)
	require.Nil(t, c.Tick(0)) // as time.Tick
	require.Nil(t, c.Tick(-1))
	ticks := c.Tick(time.Minute)
	for range 3 {
		m.Add(time.Minute)
		require.Equal(t, m.Now(), <-ticks)
	}
	require.Empty(t, ticks)
}
