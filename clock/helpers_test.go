package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// newWheel returns a wheel on c that is stopped when the test ends.
func newWheel(t testing.TB, c clock.Clock, e hierarchy.Executor) *hierarchy.Wheel {
	t.Helper()
	w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: e})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// after sets a timer that must be accepted.
func after(t testing.TB, w *hierarchy.Wheel, d time.Duration, f func()) hierarchy.Timer {
	t.Helper()
	timer, err := w.AfterFunc(d, f)
	require.NoError(t, err)
	return timer
}

// trace is a list of events in the order in which they happened.
type trace []string

func (tr *trace) note(what string) func() { return func() { *tr = append(*tr, what) } }

func (tr *trace) take() []string {
	noted := *tr
	*tr = nil
	return noted
}
