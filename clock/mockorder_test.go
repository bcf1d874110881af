package clock_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Timers on several wheels, with few distinct deadlines, fire in the order of a stable
// sort by deadline.
func TestMockOrderAcrossWheels(t *testing.T) {
	m, r := clock.NewMock(), rand.New(rand.NewPCG(1, 2))
	var wheels []*hierarchy.Wheel
	for range 7 {
		wheels = append(wheels, newWheel(t, m, nil))
	}
	type set struct {
		at time.Duration
		id int
	}
	var want, got []set
	for id := range 5000 {
		s := set{time.Duration(r.IntN(40)) * time.Millisecond, id}
		want = append(want, s)
		after(t, wheels[r.IntN(len(wheels))], s.at, func() { got = append(got, s) })
	}
	sort.SliceStable(want, func(i, j int) bool { return want[i].at < want[j].at })
	m.Add(time.Second)
	require.Equal(t, want, got)
}

func TestMockResetGetsANewOrder(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	v, w := newWheel(t, m, nil), newWheel(t, m, nil)
	moved := after(t, v, time.Second, tr.note("moved"))
	after(t, w, time.Second, tr.note("a"))
	after(t, v, time.Second, tr.note("b"))
	require.True(t, moved.Reset(time.Second))
	after(t, w, time.Second, tr.note("c"))
	m.Add(time.Second)
	require.Equal(t, []string{"a", "b", "moved", "c"}, tr.take())
}

func TestMockKeyedAndPlainAlarmsShareTheOrder(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	cfg := hierarchy.Config{Clock: m}
	keyed, err := hierarchy.NewKeyed(cfg, func(k, _ string) { tr.note(k)() })
	require.NoError(t, err)
	defer keyed.Stop()
	w := newWheel(t, m, nil)
	var alarm clock.Alarm
	alarm = m.NewAlarm(func() { tr.note("alarm")(); alarm.Stop() })

	require.NoError(t, keyed.Set("again", "", time.Second))
	require.NoError(t, keyed.Set("key", "", time.Second))
	alarm.Set(time.Second)
	after(t, w, time.Second, tr.note("wheel"))
	require.NoError(t, keyed.Set("again", "", time.Second))
	m.Add(time.Second)
	require.Equal(t, []string{"key", "alarm", "wheel", "again"}, tr.take())
}

// A callback stops and resets other timers of the same deadline, on its own wheel and on
// another.
func TestMockDueTimersStayStoppable(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	v, w := newWheel(t, m, nil), newWheel(t, m, nil)
	var timers []hierarchy.Timer
	after(t, v, time.Second, func() {
		require.Equal(t, 4, v.Len()+w.Len())
		require.True(t, timers[0].Stop())
		require.True(t, timers[1].Stop())
		require.True(t, timers[2].Reset(time.Second))
		require.True(t, timers[3].Reset(0))
	})
	for i, wheel := range []*hierarchy.Wheel{v, w, v, w} {
		timers = append(timers, after(t, wheel, time.Second, tr.note(fmt.Sprint(i))))
	}
	m.Add(time.Second)
	require.Equal(t, []string{"3"}, tr.take())
	m.Add(time.Second)
	require.Equal(t, []string{"2"}, tr.take())
}

func TestMockWheelStoppedInCallback(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	v, w := newWheel(t, m, nil), newWheel(t, m, nil)
	after(t, v, time.Second, func() { v.Stop(); w.Stop() })
	after(t, w, time.Second, tr.note("dropped"))
	after(t, v, time.Second, tr.note("dropped"))
	after(t, newWheel(t, m, nil), time.Second, tr.note("other"))
	m.Add(time.Hour)
	require.Equal(t, []string{"other"}, tr.take())
}

// runProgram sets, stops and resets timers at random, also inside callbacks, and moves the
// clock by every method. It returns the trace.
func runProgram(t *testing.T, seed uint64) []string {
	m, tr, r := clock.NewMock(), trace{}, rand.New(rand.NewPCG(seed, 0))
	wheels := []*hierarchy.Wheel{newWheel(t, m, nil), newWheel(t, m, nil), newWheel(t, m, nil)}
	var timers []hierarchy.Timer
	var act func()
	act = func() {
		id := len(timers)
		tr.note(fmt.Sprint(m.Elapsed(), " sets ", id))()
		timers = append(timers, after(t, wheels[r.IntN(3)], time.Duration(r.IntN(50)), func() {
			tr.note(fmt.Sprint(m.Elapsed(), " fires ", id))()
			if len(timers) < 2000 {
				act()
			}
		}))
		timers[r.IntN(len(timers))].Stop()
		timers[r.IntN(len(timers))].Reset(time.Duration(r.IntN(50)))
	}
	for range 200 {
		act()
		act()
		switch r.IntN(3) {
		case 0:
			m.Add(time.Duration(r.IntN(30)))
		case 1:
			m.Set(m.Now().Add(time.Duration(r.IntN(60) - 30)))
		default:
			m.AddNext()
		}
	}
	m.WaitForAllTimers()
	return tr.take()
}

func TestMockIsDeterministic(t *testing.T) {
	for seed := range uint64(5) {
		require.Equal(t, runProgram(t, seed), runProgram(t, seed))
	}
}
