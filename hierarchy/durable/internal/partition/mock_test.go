package partition

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// A handler that moves its mock clock would wait for itself. It panics, as a callback of a wheel does.
func TestHandlerCannotMoveItsMock(t *testing.T) {
	b := newBench(t)
	var panicked []any
	b.handle = func(context.Context, core.Firing) error {
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

// A log that comes to be in doubt while a mock clock stands at the time of two timers holds the clock up: both fire at
// that time.
func TestMockWaitsForALogInDoubt(t *testing.T) {
	b := newBench(t)
	var answers atomic.Bool
	var second time.Duration
	answered := make(chan struct{})
	b.handle = func(_ context.Context, f core.Firing) error {
		if f.Key == "second" {
			second = b.mock.Elapsed()
			return nil
		}
		b.set("first", "", time.Hour) // so nothing is written of the end of this attempt
		b.log.SetFault(func([]byte) memlog.Fault {
			if b.p.writer.queue.any() { // somebody waits for it
				answers.Store(true)
			}
			if answers.Load() {
				return memlog.None
			}
			return memlog.Drop
		})
		go func() {
			defer close(answered)
			b.set("other", "", time.Hour)
		}()
		for !b.p.writer.silence.any() {
			runtime.Gosched()
		}
		return nil
	}
	b.open()
	due := b.mock.Elapsed() + time.Second
	b.set("first", "", time.Second)
	b.set("second", "", time.Second)
	b.mock.Add(time.Minute)
	answers.Store(true)
	<-answered
	b.Equal(due, second)
}
