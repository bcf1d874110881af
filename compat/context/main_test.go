package context_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(stopping{m}) }

// stopping stops the wheel of the process after all tests: its alarm may be aimed at the time
// of a timer that was stopped, and until then the clock has a goroutine.
type stopping struct{ m *testing.M }

func (s stopping) Run() int {
	defer process.Get().Stop()
	return s.m.Run()
}

// onMock puts the contexts of the process on a mock clock until the test ends.
func onMock(t *testing.T) (*clock.Mock, *process.Process) {
	m := clock.NewMock()
	p := process.New(m)
	undo := process.Use(p)
	t.Cleanup(func() {
		undo()
		p.Stop()
	})
	return m, p
}
