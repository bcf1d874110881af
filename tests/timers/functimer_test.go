package timers

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func newFunc(t testing.TB, w *hierarchy.Wheel, f func()) *hierarchy.FuncTimer {
	t.Helper()
	timer, err := w.NewFunc(f)
	require.NoError(t, err)
	return timer
}

func TestNewFuncThatFails(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	_, err := w.NewFunc(nil)
	require.ErrorIs(t, err, hierarchy.ErrNilFunc)
	w.Stop()
	_, err = w.NewFunc(nop)
	require.ErrorIs(t, err, hierarchy.ErrClosed)
}

// runFunc runs a script on a timer. It returns all results, and when the function ran and
// what Reset returned inside. Operations are a microsecond apart and all delays are whole
// milliseconds.
func runFunc(script []byte, make func(f func()) chanTimer) (calls, runs []string) {
	start := time.Now()
	var timer chanTimer
	var mu sync.Mutex
	var inside atomic.Int64 // the delay to set inside the function, if not 0
	timer = make(func() {
		run := time.Since(start).Truncate(time.Microsecond).String()
		if d := inside.Swap(0); d > 0 {
			run += fmt.Sprint(", inside ", timer.Reset(time.Duration(d)))
		}
		mu.Lock()
		defer mu.Unlock()
		runs = append(runs, run)
	})
	r := rand.New(rand.NewPCG(1, 1))
	for _, op := range script {
		d, answer := time.Duration(r.IntN(6))*time.Millisecond, false
		switch op {
		case 's':
			answer = timer.Stop()
		case 'r':
			answer = timer.Reset(d)
		case 'n':
			answer = timer.Reset(-1)
		case 'i':
			inside.Store(int64(d))
		case 'w':
			time.Sleep(d)
		}
		calls = append(calls, fmt.Sprint(string(op), answer))
		wheeltest.Pass(time.Microsecond)
	}
	timer.Stop()
	return calls, runs
}

// A FuncTimer does what the timers of time.AfterFunc do.
func TestFuncTimerIsLikeTimer(t *testing.T) {
	scripts := []string{"rwwwwww", "rrwwww", "rswwww", "ss", "nn", "nsr", "rwnwww", "irwwwwww", "inwww", "iniwww"}
	for seed := range uint64(100) {
		scripts = append(scripts, wheeltest.RandomScript(rand.New(rand.NewPCG(seed, 0)), "srniww"))
	}
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			for _, script := range scripts {
				synctest.Test(t, func(t *testing.T) {
					w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor, MaxPending: 1})
					wantCalls, wantRuns := runFunc([]byte(script), func(f func()) chanTimer {
						timer := time.AfterFunc(time.Hour, f)
						timer.Stop()
						return timer
					})
					calls, runs := runFunc([]byte(script), func(f func()) chanTimer { return newFunc(t, w, f) })
					require.Equal(t, wantCalls, calls, script)
					require.Equal(t, wantRuns, runs, script)
					require.Zero(t, w.Len())
					wheeltest.RequireBalance(t, w)
				})
			}
		})
	}
}

// A FuncTimer has a place only while it is set, and Reset takes one beyond the limit.
func TestFuncTimerPlaces(t *testing.T) {
	for _, end := range []string{"fire", "stop", "wait", "now"} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
		var timers []*hierarchy.FuncTimer
		for range 3 {
			timers = append(timers, newFunc(t, w, nop))
		}
		wheeltest.Set(t, w, time.Hour, nop).Stop()
		for range 2 {
			for i, timer := range timers {
				require.False(t, timer.Reset(time.Second))
				require.True(t, timer.Reset(time.Minute))
				require.Equal(t, i+1, w.Len())
			}
			for _, timer := range timers {
				_, err := w.AfterFunc(time.Hour, nop)
				require.ErrorIs(t, err, hierarchy.ErrFull)
				switch end {
				case "fire":
					m.Add(time.Minute)
				case "stop":
					require.True(t, timer.Stop())
				case "wait":
					require.NoError(t, timer.StopWait(t.Context()))
				case "now":
					require.True(t, timer.Reset(0))
					m.Add(0)
				}
				if w.Len() == 0 {
					break
				}
			}
			require.Zero(t, w.Len())
			wheeltest.Set(t, w, time.Hour, nop).Stop()
			wheeltest.RequireBalance(t, w)
		}
	}
}

// What Go gets within the call gives its place back, and takes none.
func TestFuncTimerDueNowGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), MaxPending: 1})
		ran := atomic.Int32{}
		timer := newFunc(t, w, func() { ran.Add(1) })
		for i := range int32(3) {
			require.False(t, timer.Reset(time.Hour))
			require.True(t, timer.Reset(0))
			synctest.Wait()
			require.False(t, timer.Reset(-1))
			synctest.Wait()
			require.Equal(t, 2*i+2, ran.Load())
		}
		wheeltest.Set(t, w, time.Hour, nop)
		require.False(t, timer.Reset(0))
		synctest.Wait()
		st := w.Stats()
		require.Equal(t, 1, st.Pending)
		require.EqualValues(t, 7, st.Fired)
		require.EqualValues(t, 7, st.Lateness.Count())
		require.EqualValues(t, 3, st.Moved)
	})
}

func TestFuncTimerOnAStoppedWheel(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		w := wheeltest.New(t, wheeltest.Rough(executor))
		timer, unset := newFunc(t, w, func() { panic("fired") }), newFunc(t, w, nop)
		require.False(t, timer.Reset(time.Hour))
		w.Stop()
		for _, timer := range []*hierarchy.FuncTimer{timer, unset} {
			require.False(t, timer.Stop(), by)
			require.False(t, timer.Reset(time.Hour))
			require.False(t, timer.Reset(0))
			require.False(t, timer.Stop())
			require.NoError(t, timer.StopWait(t.Context()))
		}
		require.EqualValues(t, 1, w.Stats().Dropped)
		require.EqualValues(t, 1, w.Stats().Scheduled)
		wheeltest.RequireIdle(t, w)
	}
}

func TestFuncTimerAllocatesNothing(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	timer := newFunc(t, w, nop)
	timer.Reset(time.Hour)
	require.Zero(t, testing.AllocsPerRun(100, func() { timer.Reset(2 * time.Hour) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { timer.Stop(); timer.Reset(time.Hour) }))
	idle, err := w.NewIdle(time.Hour, nop)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() { idle.Touch() }))
	require.Zero(t, testing.AllocsPerRun(100, func() { timer.Reset(1); m.Add(1); idle.Touch() })-
		testing.AllocsPerRun(100, func() { m.Add(1) }))
}

// The wheel does not keep a FuncTimer or an Idle alive that is not set.
func TestUnsetTimersAreCollected(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var collected atomic.Int32
	const n = 4
	for i := range n {
		owner := new([64]byte)
		runtime.AddCleanup(owner, func(struct{}) { collected.Add(1) }, struct{}{})
		f := func() { runtime.KeepAlive(owner) }
		if i == 0 {
			idle, err := w.NewIdle(time.Second, f)
			require.NoError(t, err)
			require.True(t, idle.Touch())
			m.Add(time.Second)
			continue
		}
		timer := newFunc(t, w, f)
		if i > 1 {
			timer.Reset(time.Second)
			if i == 2 {
				timer.Stop()
			} else {
				m.Add(time.Second)
			}
		}
	}
	wheeltest.RequireCollected(t, &collected, n, "unset timers")
}
