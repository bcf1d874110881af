package tests

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

func init() { maps.Copy(scenarios, moreScenarios) }

var moreScenarios = map[string]scenario{
	"timeout": {[]string{"deadline"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		deadline := s.clock.Elapsed() + beat
		x, cancel := w.WithTimeout(context.Background(), beat)
		defer cancel()
		child, cancelChild := context.WithCancel(x)
		defer cancelChild()
		s.until(func() bool { return x.Err() != nil })
		require.GreaterOrEqual(s.t, s.clock.Elapsed(), deadline)
		<-x.Done()
		<-child.Done()
		require.ErrorIs(s.t, x.Err(), context.DeadlineExceeded)
		require.ErrorIs(s.t, child.Err(), context.DeadlineExceeded)
		s.note("deadline")
	}},
	"timeout cancelled": {[]string{"context canceled context canceled", "context canceled hierarchy: the wheel is stopped"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{})
		x, cancel := w.WithTimeout(context.Background(), time.Hour)
		cancel()
		s.note(fmt.Sprint(x.Err(), " ", context.Cause(x)))
		require.Zero(s.t, w.Len())
		x, cancel = w.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		w.Stop()
		<-x.Done()
		s.note(fmt.Sprint(x.Err(), " ", context.Cause(x)))
	}},
	"keyed": {[]string{"moved 3", "set 20", "drained 4", "drained 5"}, func(s *stage) {
		w := newKeyed(s.t, hierarchy.Config{Clock: s.clock, Executor: hierarchy.Inline}, func(k string, v int) {
			s.note(fmt.Sprint(k, " ", v))
		})
		for i, k := range []string{"removed", "set", "moved", "drained"} {
			require.NoError(s.t, w.Set(k, i+1, time.Hour))
		}
		require.NoError(s.t, w.Set("last", 5, 2*time.Hour))
		v, ok := w.Remove("removed")
		require.True(s.t, ok && v == 1)
		ok, err := w.Move("moved", beat)
		require.True(s.t, ok && err == nil)
		s.await(1)
		old, replaced, err := w.Swap("set", 20, beat)
		require.True(s.t, old == 2 && replaced && err == nil)
		s.await(2)
		_, _, ok = w.Get("set")
		require.False(s.t, ok)
		require.Equal(s.t, 2, w.Drain(func(_ string, v int) { s.note(fmt.Sprint("drained ", v)) }))
	}},
	"full": {[]string{"one", "two"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{MaxPending: 1})
		s.after(w, time.Millisecond, "one")
		s.await(1)
		timer := s.after(w, time.Hour, "never")
		_, err := w.AfterFunc(0, func() {})
		require.ErrorIs(s.t, err, hierarchy.ErrFull)
		require.True(s.t, timer.Stop())
		s.after(w, beat, "two")
		s.await(2)
	}},
	"panic": {[]string{"caught bad", "rest"}, func(s *stage) {
		w := s.wheel(hierarchy.Config{OnPanic: func(v any, _ []byte) { s.note(fmt.Sprint("caught ", v)) }})
		mustSet(s.t, w, beat, func() { panic("bad") })
		s.await(1)
		s.after(w, beat, "rest")
		s.await(2)
		require.EqualValues(s.t, 1, w.Stats().Panics)
	}},
	"shutdown": {[]string{"begun", "ended", "shut down", hierarchy.ErrClosed.Error()}, func(s *stage) {
		w := s.wheel(hierarchy.Config{Executor: hierarchy.Go})
		release, begun := make(chan struct{}), atomic.Bool{}
		s.after(w, time.Hour, "dropped")
		mustSet(s.t, w, beat, func() {
			s.note("begun")
			begun.Store(true)
			<-release
			s.note("ended")
		})
		go func() { // a mock's Add waits for the callback
			for !begun.Load() {
				s.pass(beat)
			}
		}()
		for !begun.Load() {
			time.Sleep(beat / 10)
		}
		require.ErrorIs(s.t, w.Shutdown(canceled()), context.Canceled)
		close(release)
		require.NoError(s.t, w.Shutdown(context.Background()))
		s.note("shut down")
		_, err := w.AfterFunc(0, func() {})
		s.note(fmt.Sprint(err))
		require.EqualValues(s.t, 1, w.Stats().Dropped)
	}},
}
