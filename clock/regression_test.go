package clock_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A chain of timers, each set by the callback of the one before, fires in one Add.
func TestAddReturnsTooEarly(t *testing.T) {
	for range 100 {
		m, links := clock.NewMock(), 0
		w := newWheel(t, m, hierarchy.Pool(1))
		var link func()
		link = func() {
			links++
			after(t, w, 1, link)
		}
		after(t, w, 1, link)
		m.Add(1000)
		require.Equal(t, 1000, links)
	}
}

// Add returns after an alarm without a wheel has rung and is not set again.
func TestPlainAlarmRingsAndAddReturns(t *testing.T) {
	m, rings := clock.NewMock(), 0
	m.NewAlarm(func() { rings++ }).Set(time.Second)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		m.Add(2 * time.Second)
	}()
	select {
	case <-returned:
	case <-time.After(time.Minute):
		t.Fatal("Add does not return")
	}
	require.Equal(t, 1, rings)
}

// A callback sets two timers on two wheels that are due at once. They fire in the order
// of setting.
func TestOrderOfSettingAcrossWheelsInsideCallback(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	a, b := newWheel(t, m, nil), newWheel(t, m, nil)
	after(t, a, time.Second, func() {
		after(t, b, 0, tr.note("first"))
		after(t, a, 0, tr.note("second"))
	})
	m.Add(time.Second)
	require.Equal(t, []string{"first", "second"}, tr.take())
}

// A callback of one mock moves another mock while another goroutine moves it too.
func TestAddOnBusyOtherMock(t *testing.T) {
	a, b := clock.NewMock(), clock.NewMock()
	w := newWheel(t, a, nil)
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			b.Add(1)
		}
	})
	defer wg.Wait()
	defer done.Store(true)
	for range 20_000 {
		after(t, w, 1, func() { b.Add(1) })
		require.NotPanics(t, func() { a.Add(1) })
	}
}

// The first benbjohnson timer is made while another goroutine moves the clock. The next
// one must not count from an earlier time.
func TestCompanionLagsAfterConcurrentFirstUse(t *testing.T) {
	for range 2 {
		m := clock.NewMock()
		var early time.Duration
		made := make(chan struct{})
		go func() {
			defer close(made)
			m.Benbjohnson().Timer(math.MaxInt64)
			start := m.Elapsed()
			early = start + 1000*time.Hour - (<-m.Benbjohnson().Timer(1000 * time.Hour).C).Sub(time.Unix(0, 0))
		}()
		for moving := true; moving; {
			select {
			case <-made:
				moving = false
			default:
				m.Add(time.Hour)
				runtime.Gosched() // there may be one processor
			}
		}
		require.LessOrEqual(t, early, time.Duration(0))
	}
}

// A context made after a jump returns the deadline that it was made with.
func TestDeadlineAfterJump(t *testing.T) {
	m := clock.NewMock()
	m.Jump(time.Hour)
	want := m.Now().Add(time.Minute)
	ctx, cancel := m.Benbjohnson().WithDeadline(context.Background(), want)
	defer cancel()
	got, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, want, got)
}

// An alarm aimed before elapsed time 0 is due at once.
func TestSystemAlarmFarInThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, rang := clock.System(), make(chan struct{}, 1)
		time.Sleep(time.Second)
		c.NewAlarm(func() { rang <- struct{}{} }).Set(math.MinInt64)
		<-rang
	})
}

func TestWrappedAlarmFarInThePast(t *testing.T) {
	inner := benbjohnson.NewMock()
	c := clock.Wrap(inner)
	inner.Add(time.Second)
	rang := make(chan struct{}, 1)
	c.NewAlarm(func() { rang <- struct{}{} }).Set(math.MinInt64)
	inner.Add(time.Second)
	<-rang // the ring runs in a goroutine of its own
}

var _ clock.MockWheel = (*halfSet)(nil)

// A timer is pending, and seen by WaitFor, a moment before its wheel aims the alarm. An
// Add in that moment still fires the timer.
func TestAddSeesWhatIsStillBeingSet(t *testing.T) {
	m := clock.NewMock()
	w := &halfSet{alarm: m.NewAlarm(func() {}).(alarmOfWheel)}
	w.alarm.Attach(w)
	order := w.alarm.NextOrder()
	w.pending = true // but Noted is not called yet
	m.Add(time.Second)
	require.EqualValues(t, 1, order)
	require.False(t, w.pending)
	w.alarm.Noted()

	w.calls = 0
	m.Add(time.Second)
	require.Zero(t, w.calls, "nothing is being set, but the wheel was asked")
}

// alarmOfWheel is an alarm of a Mock as a wheel sees it.
type alarmOfWheel interface {
	clock.Alarm
	clock.MockAlarm
}

// halfSet is a wheel whose only timer is due at once.
type halfSet struct {
	alarm   alarmOfWheel
	pending bool
	aimed   bool
	calls   int
}

func (w *halfSet) Nearest() (time.Duration, uint64, bool) {
	w.calls++
	if w.pending && !w.aimed {
		w.alarm.Set(0)
	}
	w.aimed = w.pending
	if !w.aimed {
		w.alarm.Stop()
	}
	return 0, 1, w.pending
}

func (w *halfSet) Step(uint64)  { w.pending = false }
func (w *halfSet) Settle() bool { return false }
func (w *halfSet) Len() int     { return 0 }
