package tests

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A timer that a callback sets for a deadline within the span of an Add fires in that
// Add, at its deadline, and before timers with later deadlines that were set earlier.
func TestMockFiresWhatCallbacksSetInsideTheSpan(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	var trace []string
	note := func(s string) { trace = append(trace, fmt.Sprintf("%s at %d", s, m.Elapsed())) }
	mustSet(t, w, 10, func() {
		note("outer")
		mustSet(t, w, 5, func() { note("inner") })
		mustSet(t, w, 0, func() { note("now") })
		mustSet(t, w, -7, func() { note("past") })
		mustSet(t, w, 10, func() { note("second") })
		mustSet(t, w, 11, func() { note("after the span") })
	})
	mustSet(t, w, 10, func() { note("same instant") })
	mustSet(t, w, 20, func() { note("first") })
	m.Add(20)
	require.Equal(t, []string{
		"outer at 10", "same instant at 10", "now at 10", "past at 10", "inner at 15", "first at 20", "second at 20",
	}, trace)
	m.Add(1)
	require.Equal(t, "after the span at 21", trace[len(trace)-1])
}

// A chain of a thousand timers, each set by the callback of the one before, runs in one
// Add.
func TestMockRunsAChainInOneAdd(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	links := 0
	var link func()
	link = func() {
		links++
		require.EqualValues(t, links*977, m.Elapsed())
		mustSet(t, w, 977, link)
	}
	mustSet(t, w, 977, link)
	m.Add(977*1000 + 500)
	require.Equal(t, 1000, links)
	require.Equal(t, 1, w.Len())
}

// When Add returns, all callbacks have returned, whatever the executor is. No callback
// begins before those with earlier deadlines have returned.
func TestMockWaitsForCallbacksOfOtherExecutors(t *testing.T) {
	for name, executor := range map[string]hierarchy.Executor{"Go": hierarchy.Go, "Pool": hierarchy.Pool(3)} {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			w := newWheel(t, hierarchy.Config{Clock: m, Executor: executor})
			var began, ended, nested atomic.Int32
			for i := range 200 {
				deadline := time.Duration(1 + i/10)
				mustSet(t, w, deadline, func() {
					began.Add(1)
					if m.Elapsed() != deadline || ended.Load() < int32(deadline-1)*10 {
						t.Errorf("deadline %d: callback runs at %d, after %d others ended", deadline, m.Elapsed(), ended.Load())
					}
					_, _ = w.AfterFunc(3, func() { nested.Add(1) })
					ended.Add(1)
				})
			}
			m.Add(23)
			require.EqualValues(t, 200, began.Load())
			require.EqualValues(t, 200, ended.Load())
			require.EqualValues(t, 200, nested.Load())
			require.Zero(t, w.Stats().Running+w.Stats().Queued)
		})
	}
}

func TestMockNextIsTheExactDeadline(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m, Precision: time.Hour})
	_, ok := m.Next()
	require.False(t, ok)
	_, ok = m.AddNext()
	require.False(t, ok)
	soon := mustSet(t, w, time.Hour+7, func() {})
	mustSet(t, w, 3*years+1, func() {}) // it may cascade earlier, which is not a deadline
	d, ok := m.Next()
	require.True(t, ok)
	require.Equal(t, time.Hour+7, d)
	soon.Stop()
	d, ok = m.AddNext()
	require.True(t, ok)
	require.Equal(t, 3*years+1, d)
	require.Equal(t, 3*years+1, m.Elapsed())
	require.Zero(t, w.Len())
}

// playTrace makes random calls with a seed and returns everything that can be observed.
func playTrace(t *testing.T, seed uint64) (trace []string) {
	m, r := clock.NewMock(), rand.New(rand.NewPCG(seed, 9))
	w := newWheel(t, hierarchy.Config{Clock: m})
	k := newKeyed(t, hierarchy.Config{Clock: m}, func(key string, v int) { trace = append(trace, fmt.Sprint(key, v, m.Elapsed())) })
	random := func() time.Duration { return time.Duration(r.Int64N(1 << (1 + r.IntN(40)))) }
	var timers []hierarchy.Timer
	for i := range 500 {
		timers = append(timers, mustSet(t, w, random(), func() { trace = append(trace, fmt.Sprint(i, m.Elapsed())) }))
		trace = append(trace, fmt.Sprint(timers[r.IntN(i+1)].Reset(random())))
		require.NoError(t, k.Set(fmt.Sprint(r.IntN(100)), i, random()))
		if r.IntN(9) == 0 {
			m.Add(random())
		}
	}
	k.Drain(func(key string, v int) { trace = append(trace, fmt.Sprint(key, v)) })
	for _, st := range []hierarchy.Stats{w.Stats(), k.Stats()} {
		trace = append(trace, fmt.Sprint(st.Lateness.Count(), st.Lateness.Max()))
		st.Lateness = hierarchy.Histogram{}
		trace = append(trace, fmt.Sprintf("%+v", st))
	}
	return append(trace, fmt.Sprintf("%+v %+v", w.Circles(), k.Circles()))
}

func TestMockSameCallsSameTrace(t *testing.T) {
	for seed := range uint64(20) {
		one, other := playTrace(t, seed), playTrace(t, seed)
		for i := range one {
			require.Equal(t, one[i], other[i], "seed %d, line %d", seed, i)
		}
	}
}

// One Add passes 100,000 distinct deadlines without sleeping at each. A sleep of a
// millisecond per deadline, as in other mocks, would take minutes.
func TestMockPassesManyDistinctDeadlines(t *testing.T) {
	const n = 100_000
	m, fired := clock.NewMock(), 0
	w := newOf(t, hierarchy.Config{Clock: m}, func(v int) {
		if m.Elapsed() != time.Duration(v) {
			t.Fatalf("timer %d fired at %d", v, m.Elapsed())
		}
		fired++
	})
	for _, i := range rand.New(rand.NewPCG(4, 4)).Perm(n) {
		_, err := w.Set((i+1)*1009, time.Duration(i+1)*1009)
		require.NoError(t, err)
	}
	returns(t, func() { m.Add(time.Second) })
	require.Equal(t, n, fired)
}
