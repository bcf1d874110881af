package tests

import (
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
	pass  func(d time.Duration) // lets time go by, on a clock that must be told to
	tries int
}

// beat is what deadlines of a scenario differ by, at least.
const beat = time.Millisecond

// stages are all clocks; play plays a scenario on one of them.
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

// onItsOwn is a clock whose time goes by itself.
func onItsOwn(c func() clock.Clock) func(t *testing.T, play func(s *stage)) {
	return func(t *testing.T, play func(s *stage)) {
		play(&stage{t: t, clock: c(), pass: func(time.Duration) { time.Sleep(beat / 10) }})
	}
}

// until lets time go by until what is awaited has come. Its patience bounds a hang.
func (s *stage) until(come func() bool) {
	s.t.Helper()
	for ; !come(); s.pass(beat) {
		if s.tries++; s.tries > 100_000 {
			s.t.Fatalf("it does not come, after %q", s.all())
		}
	}
}

// await lets time go by until n things were noted.
func (s *stage) await(n int) { s.until(func() bool { return len(s.all()) >= n }) }

func (s *stage) wheel(cfg hierarchy.Config) *hierarchy.Wheel {
	cfg.Clock, cfg.Shards, cfg.Precision = s.clock, 1, 1
	if cfg.Executor == nil {
		cfg.Executor = hierarchy.Inline
	}
	return newWheel(s.t, cfg)
}

// noting is a callback of something that is set now, d ahead: it is not early.
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
		s.t.Errorf("%s: at %v, and is due at %v", name, now, deadline)
	}
}

// after sets a timer that notes its name.
func (s *stage) after(w *hierarchy.Wheel, d time.Duration, name string) hierarchy.Timer {
	return mustSet(s.t, w, d, s.noting(name, d))
}

// receive lets time go by until there is something to receive.
func (s *stage) receive(name string, c <-chan time.Time, deadline time.Duration) {
	s.until(func() bool {
		select {
		case <-c:
			if s.clock.Elapsed() < deadline {
				s.t.Errorf("%s: early", name)
			}
			s.note(name)
			return true
		default:
			return false
		}
	})
}

// promptly has set called, on a new wheel, until it took less than a beat: then the
// order of what it sets is told by the delays, and not by how long it was held up.
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
