package context_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
