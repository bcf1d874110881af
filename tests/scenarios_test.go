package tests

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

type scenario struct {
	want []string
	play func(s *stage)
}

// scenarios have the same trace on every clock. Timers that must not fire are due in an
// hour, because on a real clock a shorter one may fire before it is stopped.
var scenarios = map[string]scenario{
	"order": {[]string{"early", "middle", "late"}, func(s *stage) {
		s.promptly(func(w *hierarchy.Wheel) {
			s.after(w, 6*beat, "late")
			s.after(w, 2*beat, "early")
			s.after(w, 4*beat, "middle")
		})
		s.await(3)
	}},
	"at once": {[]string{"zero", "past", "nested"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		s.after(w, 0, "zero")
		mustSet(s.t, w, -time.Hour, func() {
			s.note("past")
			s.after(w, 0, "nested")
		})
		s.await(3)
	}},
	"stop": {[]string{"kept"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		timer := s.after(w, time.Hour, "stopped")
		s.after(w, beat, "kept")
		require.True(s.t, timer.Stop())
		require.False(s.t, timer.Stop() || timer.Reset(0) || timer.Active())
		s.await(1)
		require.Zero(s.t, w.Len())
	}},
	"reset earlier": {[]string{"reset"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		timer := mustSet(s.t, w, time.Hour, s.noting("reset", beat))
		require.True(s.t, timer.Reset(beat))
		s.await(1)
	}},
	"reset later": {[]string{"other"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		timer := s.after(w, time.Hour, "reset")
		require.True(s.t, timer.Reset(2*time.Hour))
		left, ok := timer.Remaining()
		require.True(s.t, ok && left > time.Hour)
		s.after(w, beat, "other")
		s.await(1)
		require.Equal(s.t, 1, w.Len())
	}},
	"chain": {[]string{"1", "2", "3"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		mustSet(s.t, w, beat, func() {
			s.note("1")
			mustSet(s.t, w, beat, func() {
				s.note("2")
				s.after(w, beat, "3")
			})
		})
		s.await(3)
	}},
	"repeater": {[]string{"run", "run", "run", "end"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		start, runs, ready := s.clock.Elapsed(), 0, make(chan *hierarchy.Repeater, 1)
		r, err := w.Every(beat, func() {
			runs++
			assert.GreaterOrEqual(s.t, s.clock.Elapsed(), start+time.Duration(runs)*beat)
			s.note("run")
			if runs == 3 {
				r := <-ready
				assert.True(s.t, r.Stop())
				assert.False(s.t, r.Stop() || r.Reset(beat))
				s.after(w, 3*beat, "end")
			}
		})
		require.NoError(s.t, err)
		ready <- r
		s.await(4)
	}},
	"schedule": {[]string{"run", "run"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		first := s.clock.Now().Add(beat).Round(0)
		runs := 0
		_, err := w.Schedule(&listed{[]time.Time{first, first.Add(beat)}}, func() {
			runs++
			assert.False(s.t, s.clock.Now().Round(0).Before(first.Add(time.Duration(runs-1)*beat)))
			s.note("run")
		})
		require.NoError(s.t, err)
		s.until(func() bool { return w.Len() == 0 })
	}},
	"ticker": {[]string{"tick", "tick", "again"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		start := s.clock.Elapsed()
		ticker, err := w.NewTicker(beat)
		require.NoError(s.t, err)
		s.receive("tick", ticker.C, start+beat)
		s.receive("tick", ticker.C, start+2*beat)
		ticker.Stop()
		require.Empty(s.t, ticker.C)
		require.Zero(s.t, w.Len())
		start = s.clock.Elapsed()
		require.True(s.t, ticker.Reset(3*beat))
		s.receive("again", ticker.C, start+3*beat)
		ticker.Stop()
	}},
	"channel timer": {[]string{"first", "second"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		start := s.clock.Elapsed()
		timer, err := w.NewTimer(beat)
		require.NoError(s.t, err)
		s.receive("first", timer.C, start+beat)
		require.False(s.t, timer.Stop())
		start = s.clock.Elapsed()
		require.False(s.t, timer.Reset(time.Hour))
		require.True(s.t, timer.Reset(beat))
		s.receive("second", timer.C, start+beat)
		require.False(s.t, timer.Reset(time.Hour))
		require.True(s.t, timer.Stop())
	}},
	"after": {[]string{"after"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		start := s.clock.Elapsed()
		c, err := w.After(beat)
		require.NoError(s.t, err)
		s.receive("after", c, start+beat)
	}},
	"sleep": {[]string{"<nil>", "context canceled", hierarchy.ErrClosed.Error()}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		deadline := s.clock.Elapsed() + beat
		go func() {
			err := w.Sleep(context.Background(), beat)
			if s.clock.Elapsed() < deadline {
				err = errors.New("early")
			}
			s.note(fmt.Sprint(err))
		}()
		s.await(1)
		s.note(fmt.Sprint(w.Sleep(canceled(), time.Hour)))
		go func() { s.note(fmt.Sprint(w.Sleep(context.Background(), time.Hour))) }()
		for w.Len() == 0 {
			runtime.Gosched()
		}
		w.Stop()
		s.await(3)
	}},
}

// listed is a Schedule that returns each of its times, even those that have passed.
type listed struct{ times []time.Time }

func (x *listed) Next(time.Time) (next time.Time) {
	if len(x.times) > 0 {
		next, x.times = x.times[0], x.times[1:]
	}
	return next
}
