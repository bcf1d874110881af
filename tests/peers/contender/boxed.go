package contender

import (
	"time"

	"github.com/zeromicro/go-zero/core/collection"
	"github.com/zeromicro/go-zero/core/logx"

	"github.com/epicycle-go/epicycle/compat"
)

// timingWheel is implemented by the timing wheels of go-zero and of compat.
type timingWheel interface {
	SetTimer(key, value any, delay time.Duration) error
	MoveTimer(key any, delay time.Duration) error
	RemoveTimer(key any) error
	Drain(fn func(key, value any)) error
	Stop()
}

// boxed has numbers as keys and functions as values. All keys are converted to interfaces
// in advance, so that benchmarks don't measure the conversion.
type boxed struct {
	timingWheel
	keys []any
}

func run(_, f any) { f.(func())() }

func openGoZero(c Config) (Timers, error) {
	logx.Disable()
	interval, slots := c.ring()
	w, err := collection.NewTimingWheel(interval, slots, run)
	return &boxed{w, numbers(c.Timers)}, err
}

func openCompat(c Config) (Timers, error) {
	interval, slots := c.ring()
	w, err := compat.NewTimingWheel(interval, slots, run)
	return &boxed{w, numbers(c.Timers)}, err
}

func numbers(n int) []any {
	keys := make([]any, n)
	for i := range keys {
		keys[i] = i
	}
	return keys
}

func (b *boxed) Set(i int, d time.Duration, f func()) error { return b.SetTimer(b.keys[i], f, d) }
func (b *boxed) Stop(i int) bool                            { return b.RemoveTimer(b.keys[i]) == nil }
func (b *boxed) Reset(i int, d time.Duration) bool          { return b.MoveTimer(b.keys[i], d) == nil }
func (b *boxed) Close()                                     { b.timingWheel.Stop() }

func (b *boxed) Drain(fn func(f func())) {
	_ = b.timingWheel.Drain(func(_, f any) { fn(f.(func())) })
}

func (b *boxed) SetKey(key any, d time.Duration, f func()) error { return b.SetTimer(key, f, d) }
