package repeating

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// A Ticker with a short period that nobody reads costs a wake-up for each Precision. Once somebody
// reads, it has all its ticks.
func TestTickerThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const period = 10 * time.Microsecond
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
		tick, err := w.NewTicker(period)
		require.NoError(t, err)
		defer tick.Stop()
		wheeltest.Pass(100 * time.Millisecond)
		before := w.Stats().Wakeups
		require.LessOrEqual(t, before, uint64(110))
		<-tick.C
		<-tick.C
		from := time.Now()
		for range 100 {
			<-tick.C
		}
		require.Equal(t, 100*period, time.Since(from))
	})
}

// That a Ticker with a long period was not read does not hold up those of a short one.
func TestUnreadTickerThatIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const period = 10 * time.Microsecond
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
		tick, err := w.NewTicker(10 * time.Millisecond)
		require.NoError(t, err)
		defer tick.Stop()
		wheeltest.Pass(50 * time.Millisecond)
		require.True(t, tick.Reset(period))
		from := time.Now()
		for range 10 {
			<-tick.C
		}
		require.Equal(t, 10*period, time.Since(from))
	})
}
