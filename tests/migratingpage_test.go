package tests

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// everySecond is a scheduler as those of RussellLuo/timingwheel are.
type everySecond struct{}

func (everySecond) Next(t time.Time) time.Time { return t.Add(time.Second) }

// What docs/migrating.md writes instead of RussellLuo/timingwheel.
func TestMigratedFromAnotherWheel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired, runs := 0, 0
		f, g, scheduler := func() { fired++ }, func() { runs++ }, everySecond{}
		w, err := hierarchy.New(hierarchy.Config{})
		require.NoError(t, err)
		defer w.Stop()
		timer, err := w.AfterFunc(time.Second, f)
		require.NoError(t, err)
		repeater, err := w.Schedule(scheduler, g)
		require.NoError(t, err)
		time.Sleep(3*time.Second + time.Millisecond)
		synctest.Wait()
		require.False(t, timer.Stop())
		require.True(t, repeater.Stop())
		require.Equal(t, []int{1, 3}, []int{fired, runs})
	})
}
