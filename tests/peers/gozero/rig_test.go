package gozero

import (
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeromicro/go-zero/core/collection"
	"github.com/zeromicro/go-zero/core/logx"

	"github.com/epicycle-go/epicycle/compat"
)

func TestMain(m *testing.M) {
	logx.Disable()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// wheel is implemented by both timing wheels.
type wheel interface {
	SetTimer(key, value any, delay time.Duration) error
	MoveTimer(key any, delay time.Duration) error
	RemoveTimer(key any) error
	Drain(fn func(key, value any)) error
	Stop()
}

// cache is implemented by both caches.
type cache interface {
	Get(key string) (any, bool)
	Set(key string, value any)
	SetWithExpire(key string, value any, expire time.Duration)
	Del(key string)
	Take(key string, fetch func() (any, error)) (any, error)
}

// implementation is one of the two libraries. If the ticker passed to wheel is nil, the
// wheel makes its own.
type implementation struct {
	name      string
	wheel     func(slots int, execute func(key, value any), ticker compat.Ticker) (wheel, error)
	cache     func(expire time.Duration, limit int) (cache, error)
	errClosed error
	errKey    error
}

const interval = time.Second

var goZero = implementation{
	name: "go-zero",
	wheel: func(slots int, execute func(key, value any), ticker compat.Ticker) (wheel, error) {
		if ticker == nil {
			return collection.NewTimingWheel(interval, slots, execute)
		}
		return collection.NewTimingWheelWithTicker(interval, slots, execute, ticker)
	},
	cache: func(expire time.Duration, limit int) (cache, error) {
		return collection.NewCache(expire, collection.WithLimit(limit))
	},
	errClosed: collection.ErrClosed,
	errKey:    collection.ErrArgument,
}

var epicycle = implementation{
	name: "epicycle",
	wheel: func(slots int, execute func(key, value any), ticker compat.Ticker) (wheel, error) {
		if ticker == nil {
			return compat.NewTimingWheel(interval, slots, execute)
		}
		return compat.NewTimingWheelWithTicker(interval, slots, execute, ticker)
	},
	cache: func(expire time.Duration, limit int) (cache, error) {
		return compat.NewCache(expire, compat.WithLimit(limit))
	},
	errClosed: compat.ErrClosed,
	errKey:    compat.ErrArgument,
}

// rig is a wheel whose ticks the test sends. It records the tick at which each task ran.
// It runs in a synctest bubble, where all goroutines block before the next step begins.
type rig struct {
	wheel
	implementation
	t     *testing.T
	ticks byHand
	stop  sync.Once
	slots int
	now   int // ticks sent so far

	mu  sync.Mutex
	ran map[any][]int // guarded by mu; by key
	got map[any][]any // guarded by mu; the values, by key
	do  func(key any) // every task calls it, if it is not nil
}

// Stop stops the wheel, once.
func (r *rig) Stop() { r.stop.Do(r.wheel.Stop) }

// byHand is a ticker whose ticks the test sends.
type byHand chan time.Time

func (b byHand) Chan() <-chan time.Time { return b }
func (b byHand) Stop()                  {}

func newRig(t *testing.T, i implementation, slots int) *rig {
	r := &rig{
		implementation: i, t: t, slots: slots, ticks: make(byHand),
		ran: make(map[any][]int), got: make(map[any][]any),
	}
	w, err := i.wheel(slots, r.execute, r.ticks)
	require.NoError(t, err)
	r.wheel = w
	return r
}

func (r *rig) execute(key, value any) {
	r.mu.Lock()
	r.ran[key] = append(r.ran[key], r.now)
	r.got[key] = append(r.got[key], value)
	r.mu.Unlock()
	if r.do != nil {
		r.do(key)
	}
}

// tick sends n ticks and waits after each until all goroutines block.
func (r *rig) tick(n int) {
	for range n {
		r.now++
		r.ticks <- time.Time{}
		synctest.Wait()
	}
}

// set and move take delays in intervals.
func (r *rig) set(key, value any, delay float64) {
	require.NoError(r.t, r.SetTimer(key, value, intervals(delay)))
}

func (r *rig) move(key any, delay float64) {
	require.NoError(r.t, r.MoveTimer(key, intervals(delay)))
	synctest.Wait()
}

func (r *rig) drain(fn func(key, value any)) {
	require.NoError(r.t, r.Drain(fn))
	synctest.Wait()
}

func intervals(n float64) time.Duration { return time.Duration(n * float64(interval)) }

// compare runs a scenario on go-zero's wheel and on ours and requires the given result on
// each.
func compare[T any](t *testing.T, slots int, onGoZero, onOurs T, scenario func(r *rig) T) {
	t.Helper()
	for _, c := range []struct {
		i    implementation
		want T
	}{{goZero, onGoZero}, {epicycle, onOurs}} {
		t.Run(c.i.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.i, slots)
				defer r.Stop()
				require.Equal(t, c.want, scenario(r))
			})
		})
	}
}
