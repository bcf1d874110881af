package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// What is due when it is set is gathered with nothing: Go and a Pool get it within the call,
// and for other executors the alarm is aimed at a time that has come, whatever the Precision
// and however recent the last wake-up.
func TestDueWhenSetIsGatheredWithNothing(t *testing.T) {
	for name, executor := range map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Pool": hierarchy.Pool(1), "Inline": hierarchy.Inline, "own": func(task func()) { task() },
	} {
		for _, precision := range []time.Duration{1, time.Millisecond, time.Hour} {
			c := &handClock{}
			w := newWheel(t, hierarchy.Config{Clock: c, Executor: executor, Precision: precision})
			woken := make(chan struct{}, 1)
			mustSet(t, w, 5, func() { woken <- struct{}{} })
			c.runTo(5)
			<-woken
			for range 3 {
				ran := make(chan struct{}, 1)
				mustSet(t, w, -time.Hour, func() { ran <- struct{}{} })
				if direct := name == "Go" || name == "Pool"; direct {
					require.Zero(t, w.Len(), name)
				} else {
					require.Equal(t, 1, w.Len(), name)
					at, aimed := c.target()
					require.True(t, aimed)
					require.Equal(t, c.Elapsed(), at)
					c.runTo(at)
				}
				<-ran
			}
			require.EqualValues(t, 4, w.Stats().Fired)
			require.Zero(t, w.Stats().Lateness.Max())
		}
	}
}
