package hierarchy

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// Config configures a wheel. The zero Config is ready to use.
type Config struct {
	// Interval is about the width of the base circle's slots, default 1s. The width
	// itself is the nearest power of two in nanoseconds. Interval places the boundaries
	// of the circles and never changes when a timer fires.
	Interval time.Duration
	// Precision limits the wake-ups, so that many timers cost one wake-up per Precision. Two wake-ups are aimed at times
	// that are at least one Precision apart. A timer that falls due between these times waits for the second wake-up, and
	// a timer that falls due later is exact. The default is 1ms, or Interval if that is less. With the default, timers
	// wait only where more than four are due within one Precision, or the last wake-up has fired more. And they wait for
	// a millisecond of the kernel's, from one wake-up to the next, as they do with package time: that takes half as much
	// CPU as a Precision of 1ms that is set, which counts from aim to aim. On a mock clock all timers are exact. A smaller
	// Precision makes timers that are close together more exact and costs CPU: a thousand wake-ups a second take about
	// 4 % of a core. Precision must not be greater than an Interval that is set.
	Precision time.Duration
	// Clock provides the time and wakes the wheel, default clock.Precise().
	Clock clock.Clock
	// Executor runs the callbacks, default Go; on a *clock.Mock, Inline.
	Executor Executor
	// MaxPending limits the number of pending timers; 0 means no limit. A timer of any kind takes one place from when
	// it is set until it fires or is stopped. A Repeater, Ticker or ChanTimer, which can be used after it has fired,
	// keeps its place until it is stopped. If all places are taken, a call that would set a new timer returns ErrFull.
	// WithTimeout and WithDeadline return a context that is cancelled with the cause ErrFull. A timer that still has
	// its place can be set again even then, as Timer.Reset and Keyed.Set of a pending key do. A FuncTimer, ChanTimer or
	// Ticker that has given its place back takes a place beyond the limit in Reset. A timer that is already due when it
	// is set takes no place if it is dispatched or served within the call. The limit costs a counter shared by all
	// cores.
	MaxPending int
	// MaxQueued limits the callbacks that wait in the executor. While MaxQueued callbacks wait, setting a timer whose
	// callback the executor would run returns ErrFull. 0 means no limit. Timers that are already pending still fire, so
	// if MaxPending is set, too, at most MaxPending + MaxQueued callbacks wait. Channels, sleepers and contexts have no
	// callback in the executor, so only MaxPending limits them. Operations that need no new timer, such as Reset and
	// the next run of a Repeater, are not limited.
	MaxQueued int
	// Shards is the number of parts that the wheel has, each with a lock of its own, so
	// that cores seldom wait for each other. 0 means one for each core, up to 16, and for
	// a Keyed eight for each core, up to 32. The number is rounded up to a power of two,
	// at most 1024. On a *clock.Mock there is always one.
	Shards int
	// OnPanic is called with the value that a callback panicked with and the stack, in
	// the callback's goroutine. If it is nil, a panic crashes the process, as in package
	// time.
	OnPanic func(recovered any, stack []byte)
}

const (
	defaultInterval  = time.Second
	defaultPrecision = time.Millisecond
	maxShards        = 1 << 10
	// defaultFew is the largest number of timers due within one default Precision that are not gathered. A wheel with
	// ten thousand timers in a second has ten in each millisecond on average. Where it happens to have fewer, they must
	// still be gathered.
	defaultFew = 4
)

// newCore makes a wheel configured by cfg, which calls fire with the value of each timer.
func newCore[T any](cfg Config, fire func(T)) (*engine.Core[T], error) {
	if fire == nil {
		return nil, ErrNilFunc
	}
	few := 0
	if cfg.Precision == 0 {
		few = defaultFew
	}
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	return engine.New(engine.Config{
		Interval: cfg.Interval, Precision: cfg.Precision, Few: few, Clock: cfg.Clock,
		Execute: cfg.Executor, IsGo: isGo(cfg.Executor), IsInline: isInline(cfg.Executor), Pool: executor.PoolOf(cfg.Executor),
		MaxPending: cfg.MaxPending, MaxQueued: cfg.MaxQueued, Shards: cfg.Shards, OnPanic: cfg.OnPanic,
	}, fire), nil
}

// validate returns cfg with all defaults filled in, or ErrArgument.
func (cfg Config) validate() (Config, error) {
	switch {
	case cfg.Interval < 0:
		return cfg, fmt.Errorf("%w: Interval %v is negative", ErrArgument, cfg.Interval)
	case cfg.Precision < 0:
		return cfg, fmt.Errorf("%w: Precision %v is negative", ErrArgument, cfg.Precision)
	case cfg.MaxPending < 0:
		return cfg, fmt.Errorf("%w: MaxPending %d is negative", ErrArgument, cfg.MaxPending)
	case cfg.MaxQueued < 0:
		return cfg, fmt.Errorf("%w: MaxQueued %d is negative", ErrArgument, cfg.MaxQueued)
	case cfg.Shards < 0:
		return cfg, fmt.Errorf("%w: Shards %d is negative", ErrArgument, cfg.Shards)
	case cfg.Interval > 0 && cfg.Precision > cfg.Interval:
		return cfg, fmt.Errorf("%w: Precision %v is above Interval %v", ErrArgument, cfg.Precision, cfg.Interval)
	}
	if cfg.Precision == 0 {
		cfg.Precision = defaultPrecision
		if cfg.Interval > 0 {
			cfg.Precision = min(defaultPrecision, cfg.Interval)
		}
	}
	if cfg.Interval == 0 {
		cfg.Interval = max(defaultInterval, cfg.Precision)
	}
	cfg.fillIn()
	return cfg, nil
}

func (cfg *Config) fillIn() {
	if cfg.Clock == nil {
		cfg.Clock = clock.Precise()
	}
	mock := clock.IsMock(cfg.Clock)
	if cfg.Executor == nil {
		cfg.Executor = Go
		if mock {
			cfg.Executor = Inline
		}
	}
	if cfg.Shards == 0 {
		cfg.Shards = chosenShards()
	}
	if mock {
		cfg.Shards = 1
	}
	cfg.Shards = powerOfTwo(min(cfg.Shards, maxShards))
}

// chosenShards returns the default number of shards, before it is rounded up to a power of two: one for each processor
// that can run Go code.
func chosenShards() int { return min(runtime.GOMAXPROCS(0), 16) }

// powerOfTwo returns the least power of two that is at least n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// The errors of a wheel that can't schedule a timer. If one of them is returned, nothing was set. They may be wrapped,
// so compare with errors.Is.
var (
	ErrClosed   = engine.ErrClosed
	ErrFull     = engine.ErrFull
	ErrNilFunc  = errors.New("hierarchy: the function is nil")
	ErrArgument = errors.New("hierarchy: bad argument")
)
