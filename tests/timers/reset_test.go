package timers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// A subject is a timer of any kind that was set to fire after a second, on a wheel with one place.
type subject struct {
	w     *hierarchy.Wheel
	m     *clock.Mock
	close func() // stops its wheel
	reset func(d time.Duration) bool
	stop  func()
	took  func() int // receives all from its channel; nil if it has none
	runs  int        // how often its function was called since fired
	again bool       // it repeats

	given func() // called before the executor calls its function
	inner func() // called inside its function
}

// run is the function of a subject without a channel.
func (s *subject) run() {
	s.runs++
	s.inner()
}

// execute is the executor of its wheel.
func (s *subject) execute(task func()) {
	s.given()
	task()
}

// fired reports how often it has fired since the last call.
func (s *subject) fired() (n int) {
	if s.took != nil {
		return s.took()
	}
	n, s.runs = s.runs, 0
	return n
}

// taken returns what receives all from c.
func taken(c <-chan time.Time) func() int {
	return func() (n int) {
		for ; len(c) > 0; n++ {
			<-c
		}
		return n
	}
}

// kindsOfTimer make subjects on s.w, which is on s.m.
var kindsOfTimer = map[string]func(t *testing.T, s *subject){
	"Timer": func(t *testing.T, s *subject) {
		timer := wheeltest.Set(t, s.w, time.Second, s.run)
		s.reset, s.stop = timer.Reset, func() { timer.Stop() }
	},
	"Timer of AfterInline": func(t *testing.T, s *subject) {
		timer, err := s.w.AfterInline(time.Second, func(time.Time) { s.run() })
		require.NoError(t, err)
		s.reset, s.stop = timer.Reset, func() { timer.Stop() }
	},
	"Timer of Of": func(t *testing.T, s *subject) {
		of, err := hierarchy.NewOf(hierarchy.Config{Clock: s.m, Executor: s.execute}, func(int) { s.run() })
		require.NoError(t, err)
		t.Cleanup(of.Stop)
		timer, err := of.Set(1, time.Second)
		require.NoError(t, err)
		s.reset, s.stop, s.close = timer.Reset, func() { timer.Stop() }, of.Stop
	},
	"FuncTimer": func(t *testing.T, s *subject) {
		timer := newFunc(t, s.w, s.run)
		require.False(t, timer.Reset(time.Second), "it was never set")
		s.reset, s.stop = timer.Reset, func() { timer.Stop() }
	},
	"ChanTimer": func(t *testing.T, s *subject) {
		timer, err := s.w.NewTimer(time.Second)
		require.NoError(t, err)
		s.reset, s.stop, s.took = timer.Reset, func() { timer.Stop() }, taken(timer.C)
	},
	"Ticker": func(t *testing.T, s *subject) {
		ticker, err := s.w.NewTicker(time.Second)
		require.NoError(t, err)
		s.reset, s.stop, s.took, s.again = ticker.Reset, func() { ticker.Stop() }, taken(ticker.C), true
	},
	"Repeater of Every": func(t *testing.T, s *subject) {
		r := wheeltest.Every(t, s.w, time.Second, s.run)
		s.reset, s.stop, s.again = r.Reset, func() { r.Stop() }, true
	},
	"Repeater of Schedule": func(t *testing.T, s *subject) {
		r := wheeltest.Schedule(t, s.w, hierarchy.Aligned(time.Second, 0), s.run)
		s.reset, s.stop, s.again = r.Reset, func() { r.Stop() }, true
	},
}

// newSubject makes a subject of that kind.
func newSubject(t *testing.T, kind string) *subject {
	s := &subject{given: nop, inner: nop}
	s.w, s.m = wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1, Executor: s.execute})
	s.close = s.w.Stop
	kindsOfTimer[kind](t, s)
	return s
}

// What a Reset reports, and whether the subject fires when the new delay has passed.
type outcome struct{ reports, fires bool }

var (
	moved   = outcome{true, true}   // it was pending, or goes on, and is set
	set     = outcome{false, true}  // it was not pending, and is set
	nothing = outcome{false, false} // it was too late
)

// outcomes are those of all kinds.
type outcomes struct{ timer, function, channel, ticker, repeater outcome }

func (o outcomes) of(kind string) outcome {
	switch kind {
	case "FuncTimer":
		return o.function
	case "ChanTimer":
		return o.channel
	case "Ticker":
		return o.ticker
	case "Repeater of Every", "Repeater of Schedule":
		return o.repeater
	}
	return o.timer
}

// resetStates bring a subject, which is pending, into a state.
var resetStates = map[string]struct {
	enter func(s *subject)
	want  outcomes
}{
	"pending":            {func(*subject) {}, outcomes{moved, moved, moved, moved, moved}},
	"due":                {func(s *subject) { s.reset(time.Nanosecond); s.reset(0) }, outcomes{moved, moved, moved, moved, moved}},
	"fired":              {func(s *subject) { s.m.Add(time.Second); s.fired() }, outcomes{nothing, set, set, moved, moved}},
	"fired and not read": {func(s *subject) { s.m.Add(time.Second); s.runs = 0 }, outcomes{nothing, set, moved, moved, moved}},
	"stopped":            {func(s *subject) { s.stop() }, outcomes{nothing, set, set, moved, nothing}},
	"stopped, and the wheel is full": {func(s *subject) {
		s.stop()
		_, _ = s.w.AfterFunc(time.Hour, nop)
	}, outcomes{nothing, set, set, moved, nothing}},
	"the wheel is closed": {func(s *subject) { s.close() }, outcomes{}},
	"fired, and the wheel is closed": {func(s *subject) {
		s.m.Add(time.Second)
		s.fired()
		s.close()
	}, outcomes{}},
	"stopped, and the wheel is closed": {func(s *subject) { s.stop(); s.close() }, outcomes{}},
}

// Reset of what fires once reports whether it was pending, and Reset of what repeats whether it goes on with
// the new period. What can be set again is set also if it was not pending.
func TestReset(t *testing.T) {
	for kind := range kindsOfTimer {
		for state, c := range resetStates {
			t.Run(kind+"/"+state, func(t *testing.T) {
				s, want := newSubject(t, kind), c.want.of(kind)
				c.enter(s)
				require.Equal(t, want.reports, s.reset(10*time.Second))
				requireFires(t, s, want.fires)
			})
		}
	}
}

// requireFires requires that a subject fires after ten seconds, or not at all.
func requireFires(t *testing.T, s *subject, fires bool) {
	t.Helper()
	s.m.Add(10*time.Second - 1)
	require.Zero(t, s.fired(), "too early")
	s.m.Add(1)
	require.Equal(t, fires, s.fired() == 1)
}

// From when a timer is dispatched it is not pending, so a Reset in its own function is too late for it. What
// repeats goes on, and does not run if it has not begun.
func TestResetWhileItFires(t *testing.T) {
	for kind := range kindsOfTimer {
		want := outcomes{timer: nothing, function: set, repeater: moved}.of(kind)
		requireReset := func(t *testing.T, hook func(s *subject, reset func()), runs int) {
			s := newSubject(t, kind)
			called := false
			hook(s, func() {
				if !called {
					called = true
					require.Equal(t, want.reports, s.reset(10*time.Second))
				}
			})
			s.m.Add(time.Second)
			require.True(t, called)
			require.Equal(t, runs, s.fired())
			requireFires(t, s, want.fires)
		}
		t.Run(kind, func(t *testing.T) {
			s := newSubject(t, kind)
			if s.took != nil {
				return // it has no function
			}
			requireReset(t, func(s *subject, reset func()) { s.inner = reset }, 1)
			if kind != "Timer of AfterInline" {
				runs := 1
				if s.again {
					runs = 0
				}
				requireReset(t, func(s *subject, reset func()) { s.given = reset }, runs)
			}
		})
	}
}

// A delay that is not positive is due at once. Nothing repeats with such a period: Reset changes nothing.
func TestResetToWhatIsNotPositive(t *testing.T) {
	for kind := range kindsOfTimer {
		for _, d := range []time.Duration{0, -1, math.MinInt64} {
			s := newSubject(t, kind)
			require.Equal(t, !s.again, s.reset(d), kind)
			s.m.Add(0)
			require.Equal(t, !s.again, s.fired() == 1, kind)
			s.m.Add(time.Second)
			require.Equal(t, s.again, s.fired() == 1, kind)
		}
	}
}

// At the end of the clock's time nothing goes on.
func TestResetAtTheEndOfTime(t *testing.T) {
	for kind := range kindsOfTimer {
		s := newSubject(t, kind)
		if !s.again {
			continue
		}
		require.True(t, s.reset(math.MaxInt64))
		s.inner = func() { require.False(t, s.reset(time.Second), kind) }
		s.m.Add(math.MaxInt64)
		require.Equal(t, 1, s.fired(), kind)
		require.False(t, s.reset(time.Second), kind)
		s.m.Add(0)
		require.Zero(t, s.fired(), kind)
	}
}
