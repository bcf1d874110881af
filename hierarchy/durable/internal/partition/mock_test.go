package partition

import (
	"context"
	"testing"
	"time"
)

// A handler that moves its mock clock would wait for itself. It panics, as a callback of a wheel does.
func TestHandlerCannotMoveItsMock(t *testing.T) {
	b := newBench(t)
	var panicked []any
	b.handle = func(context.Context, Firing) error {
		func() {
			defer func() { panicked = append(panicked, recover()) }()
			b.mock.Add(time.Second)
		}()
		return nil
	}
	b.open()
	begun := b.mock.Elapsed()
	b.set("a", "", time.Second)
	b.mock.Add(time.Second)
	b.Equal([]any{"clock: Mock.Add called inside a callback of that mock"}, panicked)
	b.Equal(begun+time.Second, b.mock.Elapsed())
}
