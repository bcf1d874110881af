package compat_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
)

// badArgument has arguments that every constructor rejects.
type badArgument struct {
	interval time.Duration
	slots    int
	execute  compat.Execute
}

// text is go-zero's error for b.
func (b badArgument) text() string {
	return fmt.Sprintf("interval: %v, slots: %d, execute: %p", b.interval, b.slots, b.execute)
}

var badArguments = []badArgument{
	{0, 10, func(any, any) {}},
	{-time.Second, 10, func(any, any) {}},
	{time.Second, 0, func(any, any) {}},
	{time.Second, -1, func(any, any) {}},
	{time.Second, 10, nil},
}

func TestConstructorArguments(t *testing.T) {
	for _, c := range badArguments {
		w, err := compat.NewTimingWheel(c.interval, c.slots, c.execute)
		require.EqualError(t, err, c.text())
		require.Nil(t, w)
		w, err = compat.NewTimingWheelWithClock(c.interval, c.slots, c.execute, clock.NewMock())
		require.EqualError(t, err, c.text())
		require.Nil(t, w)
	}
	require.Equal(t, "interval: 1s, slots: 10, execute: 0x0", badArguments[4].text())

	for _, c := range []clock.Clock{nil, (*clock.Mock)(nil)} {
		w, err := compat.NewTimingWheelWithClock(time.Second, 10, func(any, any) {}, c)
		require.ErrorContains(t, err, "interval: 1s, slots: 10, execute: 0x")
		require.Nil(t, w)
	}
	for _, interval := range []time.Duration{1, time.Microsecond, math.MaxInt64} {
		w, err := compat.NewTimingWheelWithClock(interval, math.MaxInt, func(any, any) {}, clock.NewMock())
		require.NoError(t, err, "%v", interval)
		w.Stop()
	}
}

func TestErrorTexts(t *testing.T) {
	require.EqualError(t, compat.ErrClosed, "TimingWheel is closed already")
	require.EqualError(t, compat.ErrArgument, "incorrect task argument")
}

// requireClosed checks that the calls of a stopped wheel return ErrClosed.
func requireClosed(t testing.TB, w *compat.TimingWheel) {
	t.Helper()
	require.Equal(t, compat.ErrClosed, w.SetTimer("any", 1, time.Second))
	require.Equal(t, compat.ErrClosed, w.MoveTimer("any", time.Second))
	require.Equal(t, compat.ErrClosed, w.MoveTimer("any", 1))
	require.Equal(t, compat.ErrClosed, w.RemoveTimer("any"))
	require.Equal(t, compat.ErrClosed, w.Drain(func(any, any) { t.Error("drained") }))
}

// forEachKind runs a test on a wheel of each kind. advance advances its time by interval.
func forEachKind(t *testing.T, execute compat.Execute, test func(t *testing.T, w *compat.TimingWheel, advance func())) {
	t.Run("mock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, m := onMock(t, execute)
			test(t, w, func() { m.Add(interval) })
		})
	})
	forEachKindOffMock(t, execute, test)
}

// forEachKindOffMock is forEachKind without the mock: tasks run in their own goroutines.
func forEachKindOffMock(t *testing.T, execute compat.Execute, test func(t *testing.T, w *compat.TimingWheel, advance func())) {
	t.Run("ticker", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ticker := newFakeTicker()
			test(t, newTickerWheel(t, 10, execute, ticker), func() { ticker.tick(); settle() })
		})
	})
	t.Run("real", func(t *testing.T) { // in the bubble's time
		synctest.Test(t, func(t *testing.T) {
			w, err := compat.NewTimingWheel(interval, 10, execute)
			require.NoError(t, err)
			defer w.Stop()
			test(t, w, func() { time.Sleep(interval); settle() })
		})
	})
}

// unhashable has values that can't be compared, although some of their types can be.
var unhashable = []any{
	[]int{1}, map[string]int{}, func() {},
	[1]any{[]int{1}}, struct{ x any }{map[int]int{}}, [2][]int{}, struct{ f func() }{},
	[1]struct{ x any }{{[]int(nil)}},
}

func TestArguments(t *testing.T) {
	forEachKind(t, func(key, _ any) { t.Errorf("%v ran", key) }, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		check := func() {
			t.Helper()
			for _, key := range append([]any{nil}, unhashable...) {
				require.Equal(t, compat.ErrArgument, w.SetTimer(key, 1, time.Second), "%T", key)
				require.Equal(t, compat.ErrArgument, w.MoveTimer(key, time.Second), "%T", key)
				require.Equal(t, compat.ErrArgument, w.RemoveTimer(key), "%T", key)
			}
			for _, d := range []time.Duration{0, -1, math.MinInt64} {
				require.Equal(t, compat.ErrArgument, w.SetTimer("a", 1, d), "%v", d)
				require.Equal(t, compat.ErrArgument, w.MoveTimer("a", d), "%v", d)
			}
			require.Equal(t, compat.ErrArgument, w.Drain(nil))
		}
		check()
		advance()
		require.NoError(t, w.MoveTimer("unknown", time.Second))
		require.NoError(t, w.MoveTimer("unknown", 1))
		require.NoError(t, w.RemoveTimer("unknown"))
		w.Stop()
		check() // arguments are validated first, as in go-zero
		requireClosed(t, w)
	})
}

func TestKeysOfAllTypes(t *testing.T) {
	type name string
	x, y := new(int), new(int)
	c := make(chan int)
	keys := []any{
		1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1), uint32(1), uint64(1), uintptr(1),
		1.0, float32(1), 1i, complex64(1), "1", "", name("1"), true, false, 'a', time.Second, struct{}{},
		[2]int{1, 2}, [2]int{2, 1}, [2]any{1, "1"}, struct{ a, b any }{1, nil}, x, y, c, (*int)(nil),
		errors.New("an error"), errors.New("an error"), math.Inf(1), 0.0, time.Unix(1, 0), (chan int)(nil),
	}
	got := make(map[any]int)
	var mu sync.Mutex
	execute := func(key, value any) {
		mu.Lock()
		defer mu.Unlock()
		got[key] += value.(int)
	}
	forEachKind(t, execute, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		clear(got)
		want := make(map[any]int)
		for i, key := range keys {
			require.NoError(t, w.SetTimer(key, -1, 5*interval))
			require.NoError(t, w.SetTimer(key, i+1, 5*interval))
			require.NoError(t, w.MoveTimer(key, interval))
			want[key] = i + 1
		}
		require.Len(t, want, len(keys))
		advance()
		require.Equal(t, want, got)
		for _, key := range keys {
			require.NoError(t, w.SetTimer(key, 1, interval))
			require.NoError(t, w.RemoveTimer(key))
		}
		advance()
		require.Equal(t, want, got)
	})
}

// NaN is not equal to itself, so no other call finds its timer, but its task runs.
func TestNaN(t *testing.T) {
	tasks := new(taskLog)
	forEachKind(t, tasks.record, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		for i, key := range []any{math.NaN(), math.NaN(), float32(math.NaN()), [1]float64{math.NaN()}} {
			require.NoError(t, w.SetTimer(key, i, interval))
			require.NoError(t, w.MoveTimer(key, 5*interval))
			require.NoError(t, w.MoveTimer(key, 1))
			require.NoError(t, w.RemoveTimer(key))
		}
		require.Empty(t, tasks.take())
		advance()
		require.Equal(t, []string{"NaN=0@", "NaN=1@", "NaN=2@", "[NaN]=3@"}, tasks.take())

		require.NoError(t, w.SetTimer(math.NaN(), "drained", interval))
		require.NoError(t, w.Drain(tasks.record))
		settle()
		advance()
		require.Equal(t, []string{"NaN=drained@"}, tasks.take())
	})
}

func TestValues(t *testing.T) {
	tasks := new(taskLog)
	forEachKind(t, tasks.record, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		require.NoError(t, w.SetTimer("nil", nil, interval))
		require.NoError(t, w.SetTimer("replaced", 1, 3*interval))
		require.NoError(t, w.SetTimer("replaced", 2, interval))
		require.NoError(t, w.SetTimer("by nil", 1, interval))
		require.NoError(t, w.SetTimer("by nil", nil, interval))
		require.NoError(t, w.SetTimer("put off", 1, interval))
		require.NoError(t, w.SetTimer("put off", 2, 2*interval))
		require.NoError(t, w.SetTimer("slice", []int{1}, interval))
		advance()
		require.Equal(t, []string{"by nil=<nil>@", "nil=<nil>@", "replaced=2@", "slice=[1]@"}, tasks.take())
		advance()
		require.Equal(t, []string{"put off=2@"}, tasks.take())
		advance()
		require.Empty(t, tasks.take())
	})
}

// When the task of a key runs, the key has no timer: setting it makes a new one.
func TestSetInsideTask(t *testing.T) {
	var w *compat.TimingWheel
	tasks := new(taskLog)
	execute := func(key, value any) {
		tasks.record(key, value)
		if n := value.(int); n < 3 {
			_ = w.SetTimer(key, n+1, interval)
		}
	}
	forEachKind(t, execute, func(t *testing.T, tw *compat.TimingWheel, advance func()) {
		w = tw
		require.NoError(t, w.SetTimer("a", 1, interval))
		for now := range 5 {
			tasks.at(now + 1)
			advance()
		}
		require.Equal(t, []string{"a=1@1", "a=2@2", "a=3@3"}, tasks.take())
	})
}

// Without a ticker, deadlines are kept exactly, whatever the interval.
func TestExactDeadlines(t *testing.T) {
	tasks := new(taskLog)
	w, m := onMock(t, tasks.record)
	delays := []time.Duration{1, time.Microsecond, interval / 2, interval - 1, interval, interval + 1, 10*interval + 7, time.Hour + 3}
	for _, d := range delays {
		require.NoError(t, w.SetTimer(d, "set", d))
		require.NoError(t, w.SetTimer(-d, "moved", 100*time.Hour))
		require.NoError(t, w.MoveTimer(-d, d))
	}
	require.Empty(t, tasks.take())
	for _, d := range delays {
		m.Add(d - m.Elapsed() - 1)
		require.Empty(t, tasks.take(), "before %v", d)
		m.Add(1)
		require.Equal(t, []string{fmt.Sprintf("%v=moved@", -d), fmt.Sprintf("%v=set@", d)}, tasks.take())
	}

	require.NoError(t, w.SetTimer("later", 1, time.Second))
	m.Add(time.Second - 1)
	require.NoError(t, w.MoveTimer("later", time.Second))
	require.NoError(t, w.SetTimer("never", 1, time.Second))
	require.NoError(t, w.RemoveTimer("never"))
	require.NoError(t, w.SetTimer("in 292 years", 1, math.MaxInt64))
	m.Add(time.Second - 1)
	require.Empty(t, tasks.take())
	m.Add(1)
	require.Equal(t, []string{"later=1@"}, tasks.take())
	m.Add(1000 * time.Hour)
	require.Empty(t, tasks.take())
}

// On a mock, tasks run one after the other in the order of their deadlines, inside the call
// that moves the mock.
func TestTasksOnMock(t *testing.T) {
	var order []any // needs no lock: no other goroutine runs tasks
	w, m := onMock(t, func(key, _ any) { order = append(order, key) })
	for _, key := range []int{3, 1, 2} {
		require.NoError(t, w.SetTimer(key, nil, time.Duration(key)*time.Second))
	}
	for key := 11; key < 14; key++ { // equal deadlines: in the order of setting
		require.NoError(t, w.SetTimer(key, nil, time.Minute))
	}
	m.Add(time.Hour)
	require.Equal(t, []any{1, 2, 3, 11, 12, 13}, order)
}

func TestRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, late := time.Now(), make(chan time.Duration, 1)
		w, err := compat.NewTimingWheel(time.Hour, 10, func(any, any) { late <- time.Since(begin) })
		require.NoError(t, err)
		defer w.Stop()
		require.NoError(t, w.SetTimer("a", nil, 1234*time.Millisecond))
		require.Equal(t, 1234*time.Millisecond, <-late)
	})
}

// Outside of a bubble, the wheel uses another clock.
func TestRealTimeOutsideABubble(t *testing.T) {
	tasks := make(chan any)
	w, err := compat.NewTimingWheel(time.Hour, 10, func(key, _ any) { tasks <- key })
	require.NoError(t, err)
	defer w.Stop()
	begin := time.Now()
	require.NoError(t, w.SetTimer("a", nil, 2*time.Millisecond))
	require.Equal(t, "a", <-tasks)
	require.GreaterOrEqual(t, time.Since(begin), 2*time.Millisecond)
}

func requirePanicLogged(t *testing.T, l *logBuffer, what, where string) {
	t.Helper()
	lines := l.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "ERROR", lines[0]["level"])
	require.Equal(t, what, lines[0]["panic"])
	require.Contains(t, lines[0]["stack"], where, "the stack is that of the panic")
}

func explode(key, value any) {
	if key == "bad" {
		panic(value)
	}
	value.(func())()
}

func TestTaskPanics(t *testing.T) {
	l := captureLogs(t)
	forEachKind(t, explode, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		survived := 0
		require.NoError(t, w.SetTimer("bad", "boom", interval))
		require.NoError(t, w.SetTimer("good", func() { survived++ }, interval))
		advance()
		require.Equal(t, 1, survived)
		requirePanicLogged(t, l, "boom", "explode")
		require.NoError(t, w.SetTimer("bad", nil, interval)) // the key can be used again
		require.NoError(t, w.SetTimer("good", func() { survived++ }, interval))
		advance()
		require.Equal(t, 2, survived)
		require.Len(t, l.take(t), 1)
	})
}

// A task may exit its goroutine, as a failed test does.
func TestTaskThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, tasks := newFakeTicker(), new(taskLog)
		w := newTickerWheel(t, 10, func(key, value any) {
			defer tasks.record(key, value)
			runtime.Goexit()
		}, ticker)
		for i := range 3 {
			require.NoError(t, w.SetTimer("a", i, interval))
			ticker.tick()
			settle()
			require.Equal(t, []string{fmt.Sprintf("a=%d@", i)}, tasks.take())
		}
	})
}

// gate blocks the callers of hold until open is closed. Each value sent to open lets one of
// them through.
type gate struct {
	calls atomic.Int32 // of hold
	open  chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) hold(any, any) { g.calls.Add(1); <-g.open }

const maxTasks = 4096

// Tasks that are due together run concurrently, at most maxTasks at once. The wheel and
// its callers do not wait for them. When a task returns, the next one begins.
func TestTasksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, g := newFakeTicker(), newGate()
		w := newTickerWheel(t, 10, g.hold, ticker)
		for key := range maxTasks + 100 {
			require.NoError(t, w.SetTimer(key, nil, interval))
		}
		ticker.tick()
		settle()
		require.EqualValues(t, maxTasks, g.calls.Load())
		for range 5 {
			ticker.tick()
		}
		require.NoError(t, w.SetTimer("a", nil, interval))
		require.NoError(t, w.MoveTimer("a", 2*interval))
		require.NoError(t, w.RemoveTimer("a"))
		require.NoError(t, w.Drain(g.hold))
		for n := range int32(100) {
			g.open <- struct{}{}
			settle()
			require.Equal(t, maxTasks+n+1, g.calls.Load())
		}
		close(g.open)
		settle()
		require.EqualValues(t, maxTasks+100, g.calls.Load())
	})
}

// Tasks that are queued when the wheel is stopped do not run.
func TestNoTaskBeginsAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, g := newFakeTicker(), newGate()
		w := newTickerWheel(t, 10, g.hold, ticker)
		for key := range maxTasks + 100 {
			require.NoError(t, w.SetTimer(key, nil, interval))
		}
		require.NoError(t, w.SetTimer("later", nil, 2*interval))
		ticker.tick()
		settle()
		w.Stop() // returns although 4,096 tasks are running
		close(g.open)
		settle()
		require.EqualValues(t, maxTasks, g.calls.Load())
	})
}

func TestStopInsideTask(t *testing.T) {
	var w *compat.TimingWheel
	tasks := 0
	w, m := onMock(t, func(any, any) { tasks++; w.Stop(); requireClosed(t, w) })
	for key := range 5 {
		require.NoError(t, w.SetTimer(key, nil, interval))
	}
	m.Add(time.Hour)
	require.Equal(t, 1, tasks)
}

func TestStop(t *testing.T) {
	forEachKind(t, func(key, _ any) { t.Errorf("%v ran", key) }, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		require.NoError(t, w.SetTimer("a", 1, interval))
		for range 3 {
			w.Stop()
			requireClosed(t, w)
		}
	})
	w, m := onMock(t, func(key, _ any) { t.Errorf("%v ran", key) })
	require.NoError(t, w.SetTimer("a", 1, interval))
	w.Stop()
	m.Add(time.Hour)
	_, pending := m.Next()
	require.False(t, pending)
}

// Stop is called concurrently with every other call, and with itself. The bubble checks
// that no goroutine is left over or blocked forever.
func TestStopBesideCalls(t *testing.T) {
	for range 30 {
		forEachKind(t, func(any, any) {}, func(t *testing.T, w *compat.TimingWheel, _ func()) {
			calls := []func(i int) error{
				func(i int) error { return w.SetTimer(i%7, i, time.Duration(1+i%3)*interval/2) },
				func(i int) error { return w.MoveTimer(i%7, time.Duration(1+i%3)*interval/2) },
				func(i int) error { return w.RemoveTimer(i % 7) },
				func(int) error { return w.Drain(func(any, any) {}) },
			}
			var wg sync.WaitGroup
			for _, call := range calls {
				wg.Go(func() {
					for i := 0; ; i++ {
						if err := call(i); err != nil {
							if err != compat.ErrClosed {
								t.Error(err)
							}
							return
						}
						if i%16 == 0 {
							runtime.Gosched()
						}
					}
				})
			}
			for range 2 {
				wg.Go(func() {
					for range 20 {
						runtime.Gosched()
					}
					w.Stop()
				})
			}
			wg.Wait()
			requireClosed(t, w)
		})
	}
}
