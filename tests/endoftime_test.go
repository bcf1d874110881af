package tests

import (
	"testing"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A timer with its deadline at the end of time fires when the clock gets there.
func TestSaturatedDeadlineFiresOnAnyClock(t *testing.T) {
	c, fired := &handClock{elapsed: 1}, 0
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	mustSet(t, w, forever, func() { fired++ })
	c.moveTo(forever)
	c.ringNow()
	require.Equal(t, 1, fired)
}

func TestSaturatedDeadlineFiresOnAWrappedMock(t *testing.T) {
	m := benbjohnson.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: clock.Wrap(m)})
	done := make(chan bool, 1)
	mustSet(t, w, forever, func() { done <- true })
	m.Add(forever)
	returns(t, func() { <-done })
}
