package adaptertest

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// asReal requires, in a bubble, that the adapter behaves as the original's real clock does.
func (a Adapter) asReal(t *testing.T) {
	var want, got []string
	synctest.Test(t, func(*testing.T) { want = trace(a.Real) })
	synctest.Test(t, func(t *testing.T) {
		w, err := hierarchy.New(hierarchy.Config{Clock: clock.System(), Precision: 1})
		require.NoError(t, err)
		defer w.Stop()
		got = trace(a.New(w))
	})
	require.Greater(t, len(want), 40)
	require.Equal(t, want, got)
}

const ms = time.Millisecond

// tracer records what a clock does. Times are in whole milliseconds since the trace began.
type tracer struct {
	Clock
	begin time.Time

	mu    sync.Mutex
	steps []string // guarded by mu
}

func trace(c Clock) []string {
	tr := &tracer{Clock: c, begin: c.Now()}
	tr.timers()
	tr.functions()
	tr.tickers()
	return tr.steps
}

func (tr *tracer) note(what ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.steps = append(tr.steps, fmt.Sprint(tr.Since(tr.begin).Truncate(ms), " ", fmt.Sprint(what...)))
}

// wait lets d and half a millisecond pass, so that nothing is due at the end of the wait.
func (tr *tracer) wait(d time.Duration) {
	time.Sleep(d + ms/2)
	synctest.Wait()
	time.Sleep(ms / 2)
}

// look records the value that is in c, if any.
func (tr *tracer) look(what string, c <-chan time.Time) {
	synctest.Wait()
	select {
	case at := <-c:
		tr.note(what, " has ", at.Sub(tr.begin).Truncate(ms))
	default:
		tr.note(what, " has none")
	}
}

func (tr *tracer) timers() {
	t := tr.NewTimer(10 * ms)
	tr.look("timer", t.Chan())
	tr.wait(9 * ms)
	tr.look("timer", t.Chan())
	tr.note("reset ", t.Reset(5*ms), t.Reset(20*ms))
	tr.wait(19 * ms)
	tr.look("timer", t.Chan())
	tr.wait(ms)
	tr.look("timer", t.Chan())
	tr.note("stop ", t.Stop())
	tr.note("reset ", t.Reset(5*ms)) // after it has fired
	tr.wait(5 * ms)
	tr.note("stop ", t.Stop()) // before it was received
	tr.look("timer", t.Chan())
	tr.note("reset ", t.Reset(5*ms)) // after it was stopped
	tr.wait(5 * ms)
	tr.note("reset ", t.Reset(5*ms))
	tr.look("timer", t.Chan())
	tr.note("stop ", t.Stop(), t.Stop())
	for _, d := range []time.Duration{0, -ms} {
		t = tr.NewTimer(d)
		tr.look("timer", t.Chan())
		tr.note("stop ", t.Stop())
		t.Reset(d)
		tr.look("timer", t.Chan())
		tr.look("after", tr.After(d))
		tr.Sleep(d)
		tr.note("slept")
	}
	after := tr.After(3 * ms)
	tr.Sleep(2 * ms)
	tr.look("after", after)
	tr.wait(ms)
	tr.look("after", after)
}

func (tr *tracer) functions() {
	t := tr.AfterFunc(10*ms, func() { tr.note("called") })
	tr.note("channel ", t.Chan() == nil)
	tr.wait(10 * ms)
	tr.note("stop ", t.Stop())
	tr.note("reset ", t.Reset(5*ms), t.Reset(10*ms))
	tr.wait(10 * ms)
	tr.note("reset ", t.Reset(5*ms))
	tr.note("stop ", t.Stop(), t.Stop())
	tr.wait(5 * ms)
	was := t.Reset(0) // recorded later, because the function may be called before Reset has returned
	tr.wait(ms)
	tr.note("reset ", was)
	tr.AfterFunc(-ms, func() { tr.Sleep(3 * ms); tr.note("called and slept") })
	tr.wait(5 * ms)
}

func (tr *tracer) tickers() {
	t := tr.NewTicker(10 * ms)
	for range 3 {
		tr.wait(4 * ms)
		tr.look("ticker", t.C)
		tr.wait(4 * ms)
		tr.look("ticker", t.C)
	}
	tr.wait(35 * ms)
	<-t.C // the clocks send different times for this tick, but the same time for the next one
	tr.look("ticker", t.C)
	tr.wait(9 * ms)
	tr.look("ticker", t.C)
	t.Stop()
	tr.wait(20 * ms)
	tr.look("ticker", t.C)
	if t.Reset == nil {
		return
	}
	t.Reset(5 * ms)
	tr.wait(5 * ms)
	tr.look("ticker", t.C)
	tr.wait(5 * ms)
	t.Reset(7 * ms)
	tr.look("ticker", t.C)
	tr.wait(7 * ms)
	t.Stop()
	tr.look("ticker", t.C)
}
