package tests

import (
	"context"
	"time"

	benbjohnson "github.com/benbjohnson/clock"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// This file uses the exported API as callers do. It stops compiling when a signature
// changes.

type (
	wheel    = hierarchy.Wheel
	of       = hierarchy.Of[int]
	keyed    = hierarchy.Keyed[string, int]
	cancel   = context.CancelFunc
	ctx      = context.Context
	dur      = time.Duration
	timer    = hierarchy.Timer
	repeater = hierarchy.Repeater
)

var (
	_ func(hierarchy.Config) (*wheel, error)                      = hierarchy.New
	_ func(hierarchy.Config, func(int)) (*of, error)              = hierarchy.NewOf[int]
	_ func(hierarchy.Config, func(string, int)) (*keyed, error)   = hierarchy.NewKeyed[string, int]
	_ func(int) hierarchy.Executor                                = hierarchy.Pool
	_ hierarchy.Executor                                          = hierarchy.Go
	_ hierarchy.Executor                                          = hierarchy.Inline
	_ func(*wheel, dur, func()) (timer, error)                    = (*wheel).AfterFunc
	_ func(*wheel, dur, func(time.Time)) (timer, error)           = (*wheel).AfterInline
	_ func(*wheel, time.Time, func()) (timer, error)              = (*wheel).At
	_ func(*wheel) time.Time                                      = (*wheel).Now
	_ func(*wheel, dur, func()) (*repeater, error)                = (*wheel).Every
	_ func(*wheel, hierarchy.Schedule, func()) (*repeater, error) = (*wheel).Schedule
	_ [3]hierarchy.Missed                                         = [3]hierarchy.Missed{hierarchy.MissedOnce, hierarchy.MissedSkip, hierarchy.MissedAll}
	_ func(*wheel, dur) (<-chan time.Time, error)                 = (*wheel).After
	_ func(*wheel, dur) (*hierarchy.ChanTimer, error)             = (*wheel).NewTimer
	_ func(*wheel, dur) (*hierarchy.Ticker, error)                = (*wheel).NewTicker
	_ func(*wheel, ctx, dur) error                                = (*wheel).Sleep
	_ func(*wheel, ctx, dur) (ctx, cancel)                        = (*wheel).WithTimeout
	_ func(*wheel, ctx, time.Time) (ctx, cancel)                  = (*wheel).WithDeadline
	_ func(*wheel, ctx, dur, error) (ctx, cancel)                 = (*wheel).WithTimeoutCause
	_ func(*wheel, ctx, time.Time, error) (ctx, cancel)           = (*wheel).WithDeadlineCause
	_ func(*of, int, dur) (timer, error)                          = (*of).Set
	_ func(*of, func(int)) int                                    = (*of).Drain
	_ func(*keyed, string, int, dur) error                        = (*keyed).Set
	_ func(*keyed, string, int, dur) (int, bool, error)           = (*keyed).Swap
	_ func(*keyed, string, dur) (bool, error)                     = (*keyed).Move
	_ func(*keyed, string) (int, bool)                            = (*keyed).Remove
	_ func(*keyed, string) (int, dur, bool)                       = (*keyed).Get
	_ func(*keyed, string) (int, bool)                            = (*keyed).Value
	_ func(*keyed, func(string, int)) int                         = (*keyed).Drain
	_ func(timer) bool                                            = timer.Stop
	_ func(timer, dur) bool                                       = timer.Reset
	_ func(timer) bool                                            = timer.Active
	_ func(timer) (dur, bool)                                     = timer.Remaining
	_ func(*repeater) bool                                        = (*repeater).Stop
	_ func(*repeater, dur) bool                                   = (*repeater).Reset
	_ func(*hierarchy.ChanTimer) bool                             = (*hierarchy.ChanTimer).Stop
	_ func(*hierarchy.ChanTimer, dur) bool                        = (*hierarchy.ChanTimer).Reset
	_ func(*wheel, func()) (*hierarchy.FuncTimer, error)          = (*wheel).NewFunc
	_ func(*hierarchy.FuncTimer, dur) bool                        = (*hierarchy.FuncTimer).Reset
	_ func(*hierarchy.FuncTimer) bool                             = (*hierarchy.FuncTimer).Stop
	_ func(*hierarchy.FuncTimer, ctx) error                       = (*hierarchy.FuncTimer).StopWait
	_ func(*wheel, dur, func()) (*hierarchy.Idle, error)          = (*wheel).NewIdle
	_ func(*hierarchy.Idle) bool                                  = (*hierarchy.Idle).Touch
	_ func(*hierarchy.Idle) bool                                  = (*hierarchy.Idle).Stop
	_ func(*hierarchy.Ticker) bool                                = (*hierarchy.Ticker).Stop
	_ func(*hierarchy.Ticker, dur) bool                           = (*hierarchy.Ticker).Reset
	_ func(*hierarchy.Histogram, dur)                             = (*hierarchy.Histogram).Add
	_ func(*hierarchy.Histogram, hierarchy.Histogram)             = (*hierarchy.Histogram).Merge
	_ func(hierarchy.Histogram) uint64                            = hierarchy.Histogram.Count
	_ func(hierarchy.Histogram, float64) dur                      = hierarchy.Histogram.Quantile
	_ func(hierarchy.Histogram) dur                               = hierarchy.Histogram.Max
	_ func(hierarchy.Histogram) dur                               = hierarchy.Histogram.Mean
	_                                                             = hierarchy.CircleStats{Width: 0, Base: false, Hand: 0, Slots: []int{}}
	_                                                             = []error{hierarchy.ErrClosed, hierarchy.ErrFull, hierarchy.ErrNilFunc, hierarchy.ErrArgument}
)

// ends has the methods that all wheels share.
type ends interface {
	Len() int
	Stats() hierarchy.Stats
	Circles() []hierarchy.CircleStats
	Stop()
	Shutdown(context.Context) error
}

var _ = []ends{(*wheel)(nil), (*of)(nil), (*keyed)(nil)}

var (
	_ func() clock.Clock                            = clock.System
	_ func() clock.Clock                            = clock.Precise
	_ func(dur) clock.Clock                         = clock.Spinning
	_ func(benbjohnson.Clock) clock.Clock           = clock.Wrap
	_ func() *clock.Mock                            = clock.NewMock
	_ func(*clock.Mock, dur)                        = (*clock.Mock).Add
	_ func(*clock.Mock, time.Time)                  = (*clock.Mock).Set
	_ func(*clock.Mock, dur)                        = (*clock.Mock).Jump
	_ func(*clock.Mock) (dur, bool)                 = (*clock.Mock).Next
	_ func(*clock.Mock) (dur, bool)                 = (*clock.Mock).AddNext
	_ func(*clock.Mock, context.Context, int) error = (*clock.Mock).WaitFor
	_ clock.Clock                                   = (*clock.Mock)(nil)
	_ func(*clock.Mock) benbjohnson.Clock           = (*clock.Mock).Benbjohnson
)

// aClock is a clock that a caller implements.
type aClock struct{}

func (aClock) Now() time.Time              { return time.Time{} }
func (aClock) Elapsed() dur                { return 0 }
func (aClock) NewAlarm(func()) clock.Alarm { return anAlarm{} }

type anAlarm struct{}

func (anAlarm) Set(dur) {}
func (anAlarm) Stop()   {}

var _ = hierarchy.Config{
	Interval: 0, Precision: 0, Clock: aClock{}, Executor: hierarchy.Go, MaxPending: 0, Shards: 0,
	OnPanic: func(recovered any, stack []byte) {},
}

var _ = func(s hierarchy.Stats) []any {
	return []any{
		s.Pending + s.Queued + s.Running, s.Lateness,
		s.Scheduled + s.Fired + s.Stopped + s.Drained + s.Dropped + s.Moved + s.Cascaded + s.Wakeups + s.Panics,
	}
}

// The calls that users of go-zero's core/collection make.

type (
	timing  = compat.TimingWheel
	cache   = compat.Cache
	execute = compat.Execute
	option  = compat.CacheOption
)

var (
	_ func(dur, int, execute) (*timing, error)                = compat.NewTimingWheel
	_ func(dur, int, execute, compat.Ticker) (*timing, error) = compat.NewTimingWheelWithTicker
	_ func(dur, int, execute, clock.Clock) (*timing, error)   = compat.NewTimingWheelWithClock
	_ func(*timing, any, any, dur) error                      = (*timing).SetTimer
	_ func(*timing, any, dur) error                           = (*timing).MoveTimer
	_ func(*timing, any) error                                = (*timing).RemoveTimer
	_ func(*timing, func(key, value any)) error               = (*timing).Drain
	_ func(*timing)                                           = (*timing).Stop
	_ func(*timing, ctx) error                                = (*timing).Shutdown
	_ uint64                                                  = hierarchy.Stats{}.Skipped
	_ func(hierarchy.Stats) string                            = hierarchy.Stats.String
	_ func(hierarchy.Histogram) string                        = hierarchy.Histogram.String
	_ func(dur, ...option) (*cache, error)                    = compat.NewCache
	_ func(int) option                                        = compat.WithLimit
	_ func(string) option                                     = compat.WithName
	_ func(*cache, string) (any, bool)                        = (*cache).Get
	_ func(*cache, string, any)                               = (*cache).Set
	_ func(*cache, string, any, dur)                          = (*cache).SetWithExpire
	_ func(*cache, string)                                    = (*cache).Del
	_ func(*cache, string, func() (any, error)) (any, error)  = (*cache).Take
	_ func(*cache) int                                        = (*cache).Len
	_ func(*cache) compat.CacheStats                          = (*cache).Stats
	_ func(*cache)                                            = (*cache).Close
	_                                                         = []error{compat.ErrClosed, compat.ErrArgument}
)
