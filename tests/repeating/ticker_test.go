package repeating

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// runTicker runs a script on a ticker, as runTimer does.
func runTicker(script string, stop func(), reset func(time.Duration), c <-chan time.Time) (trace []string) {
	start := time.Now()
	r := rand.New(rand.NewPCG(1, 1))
	for _, op := range []byte(script) {
		d := time.Duration(1+r.IntN(6)) * time.Millisecond
		answer := ""
		switch op {
		case 's':
			stop()
		case 'r':
			answer = d.String()
			reset(d)
		case 'c':
			answer = wheeltest.Received(c, start)
		case 'w':
			time.Sleep(d)
		}
		trace = append(trace, fmt.Sprintf("%c %s", op, answer))
		wheeltest.Pass(time.Microsecond)
	}
	return trace
}

func requireSameAsTicker(t *testing.T, script string) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		theirs := time.NewTicker(2 * time.Millisecond)
		defer theirs.Stop()
		want := runTicker(script, theirs.Stop, theirs.Reset, theirs.C)
		ours, err := w.NewTicker(2 * time.Millisecond)
		require.NoError(t, err)
		got := runTicker(script, func() { ours.Stop() }, func(d time.Duration) { require.True(t, ours.Reset(d)) }, ours.C)
		require.Equal(t, want, got, script)
		wheeltest.RequireBalance(t, w)
	})
}

func TestTickerIsLikeTicker(t *testing.T) {
	for _, script := range []string{
		"cwcwcwc", "wwwwccwc", "wwscwwc", "wwrcwwwwc", "swwrwwwwccwc", "ssrrwwwc", "wwwsrc",
	} {
		requireSameAsTicker(t, script)
	}
}

func TestTickerIsLikeTickerAtRandom(t *testing.T) {
	for seed := range uint64(100) {
		requireSameAsTicker(t, wheeltest.RandomScript(rand.New(rand.NewPCG(seed, 0)), "srcccwww"))
	}
}

func TestTickerDropsTicks(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ticker, err := w.NewTicker(time.Second)
	require.NoError(t, err)
	m.Add(10500 * time.Millisecond)
	require.Equal(t, time.Unix(1, 0).UTC(), <-ticker.C)
	require.Empty(t, ticker.C)
	m.Add(500 * time.Millisecond)
	require.Equal(t, time.Unix(11, 0).UTC(), <-ticker.C)
	require.Equal(t, 1, w.Len())
	wheeltest.RequireBalance(t, w)
}

func TestTickerHoldsNoStaleTick(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ticker, err := w.NewTicker(time.Second)
	require.NoError(t, err)
	m.Add(time.Second)
	require.True(t, ticker.Stop())
	require.False(t, ticker.Stop())
	require.Empty(t, ticker.C)
	require.Zero(t, w.Len())
	m.Add(time.Minute)
	require.True(t, ticker.Reset(2*time.Second))
	m.Add(2 * time.Second)
	require.True(t, ticker.Reset(3*time.Second))
	require.Empty(t, ticker.C)
	m.Add(3*time.Second - 1)
	require.Empty(t, ticker.C)
	m.Add(1)
	require.Equal(t, m.Now(), <-ticker.C)
}

func TestTickerResetThatFailsChangesNothing(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ticker, err := w.NewTicker(time.Second)
	require.NoError(t, err)
	m.Add(time.Second)
	require.False(t, ticker.Reset(0))
	require.Len(t, ticker.C, 1)
	w.Stop()
	require.False(t, ticker.Reset(time.Second))
	require.Len(t, ticker.C, 1)
	require.False(t, ticker.Stop(), "it ended with the wheel")
	wheeltest.RequireBalance(t, w)
}

func TestTickerConcurrently(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	ticker, err := w.NewTicker(time.Microsecond)
	require.NoError(t, err)
	wheeltest.Concurrently(func() { ticker.Stop() }, func() { ticker.Reset(time.Microsecond) }, func() { wheeltest.Received(ticker.C, time.Time{}) })
	ticker.Stop()
	require.Empty(t, ticker.C)
	require.Zero(t, w.Len())
	wheeltest.RequireBalance(t, w)
}
