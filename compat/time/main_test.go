package time_test

import (
	"testing"
	standard "time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onMock puts the timers of the process on a mock clock until the test ends.
func onMock(t *testing.T) *clock.Mock {
	m := clock.NewMock()
	p := process.New(m)
	undo := process.Use(p)
	t.Cleanup(func() {
		undo()
		p.Stop()
	})
	return m
}

// received reports whether c holds a value, and takes it.
func received(c <-chan standard.Time) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// requirePanics requires that f panics with exactly what f of package time does.
func requirePanics(t *testing.T, theirs, ours func()) {
	t.Helper()
	var want any
	func() {
		defer func() { want = recover() }()
		theirs()
	}()
	require.NotNil(t, want)
	require.PanicsWithValue(t, want, ours)
}
