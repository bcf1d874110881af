package tests

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// stage is a clock on which a scenario is played, and its trace.
type stage struct {
	diary[string]
	t     *testing.T
	clock clock.Clock
	exact bool                  // callbacks start exactly at their deadline
	pass  func(d time.Duration) // lets time pass
	tries int
}

// beat is the least difference between two deadlines of a scenario.
const beat = time.Millisecond

// stages has a function for each clock, which calls play with a stage on that clock.
var stages = map[string]func(t *testing.T, play func(s *stage)){
	"mock": func(t *testing.T, play func(s *stage)) {
		m := clock.NewMock()
		play(&stage{t: t, clock: m, exact: true, pass: m.Add})
	},
	"wrapped": func(t *testing.T, play func(s *stage)) {
		m := benbjohnson.NewMock()
		play(&stage{t: t, clock: clock.Wrap(m), pass: m.Add})
	},
	"bubble": func(t *testing.T, play func(s *stage)) {
		synctest.Test(t, func(t *testing.T) {
			play(&stage{t: t, clock: clock.System(), exact: true, pass: func(d time.Duration) {
				time.Sleep(d)
				synctest.Wait()
			}})
		})
	},
	"system":   onItsOwn(clock.System),
	"precise":  onItsOwn(clock.Precise),
	"spinning": onItsOwn(func() clock.Clock { return clock.Spinning(50 * time.Microsecond) }),
}

// onItsOwn is for clocks whose time passes by itself.
func onItsOwn(c func() clock.Clock) func(t *testing.T, play func(s *stage)) {
	return func(t *testing.T, play func(s *stage)) {
		play(&stage{t: t, clock: c(), pass: func(time.Duration) { time.Sleep(beat / 10) }})
	}
}

// until lets time pass until come returns true. Its limit only bounds a hang.
func (s *stage) until(come func() bool) {
	s.t.Helper()
	for ; !come(); s.pass(beat) {
		switch s.tries++; {
		case s.tries > 40_000:
			s.t.Fatalf("an expected event does not come, after %q", s.all())
		case s.tries > 10_000:
			time.Sleep(beat) // it is up to a goroutine that a busy machine does not run
		default:
			runtime.Gosched() // with one processor, a mock leaves others no time
		}
	}
}

// await lets time pass until the trace has n entries.
func (s *stage) await(n int) { s.until(func() bool { return len(s.all()) >= n }) }

func (s *stage) wheel(cfg hierarchy.Config) *hierarchy.Wheel {
	cfg.Clock, cfg.Shards, cfg.Precision = s.clock, 1, 1
	if cfg.Executor == nil {
		cfg.Executor = hierarchy.Inline
	}
	return newWheel(s.t, cfg)
}

// noting returns a callback for a timer that is set now to d. The callback checks that it
// is not early.
func (s *stage) noting(name string, d time.Duration) func() {
	deadline := s.clock.Elapsed() + max(0, d)
	return func() {
		s.notEarly(name, deadline)
		s.note(name)
	}
}

func (s *stage) notEarly(name string, deadline time.Duration) {
	now := s.clock.Elapsed()
	if now < deadline || s.exact && now != deadline {
		s.t.Errorf("%s: called at %v, due at %v", name, now, deadline)
	}
}

// after sets a timer that notes its name.
func (s *stage) after(w *hierarchy.Wheel, d time.Duration, name string) hierarchy.Timer {
	return mustSet(s.t, w, d, s.noting(name, d))
}

// receive lets time pass until it can receive from c.
func (s *stage) receive(name string, c <-chan time.Time, deadline time.Duration) {
	s.until(func() bool {
		select {
		case <-c:
			if s.clock.Elapsed() < deadline {
				s.t.Errorf("%s: received before its deadline", name)
			}
			s.note(name)
			return true
		default:
			return false
		}
	})
}

// promptly calls set with a new wheel, again and again until a call takes less than a
// beat. Then the order of its timers follows from their delays, not from how long the
// goroutine was delayed.
func (s *stage) promptly(set func(w *hierarchy.Wheel)) {
	for {
		w := s.wheel(hierarchy.Config{})
		start := s.clock.Elapsed()
		set(w)
		if s.clock.Elapsed() < start+beat {
			return
		}
		require.NoError(s.t, w.Shutdown(s.t.Context()))
		s.mu.Lock()
		s.list = nil
		s.mu.Unlock()
	}
}

func TestScenariosAreTheSameOnEveryClock(t *testing.T) {
	for clockName, on := range stages {
		for name, scenario := range scenarios {
			t.Run(clockName+"/"+name, func(t *testing.T) {
				on(t, func(s *stage) {
					t := s.t
					scenario.play(s)
					require.Equal(t, scenario.want, s.all())
				})
			})
		}
	}
}
