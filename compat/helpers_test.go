package compat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
)

// Where tasks run in goroutines of their own, the tests run in a bubble of
// package synctest: settle returns when every goroutine has done all it can, so
// that what has not happened by then does not happen. No test waits for real time.
func settle() { synctest.Wait() }

// hand is a ticker that ticks by hand.
type hand struct {
	c       chan time.Time
	stops   atomic.Int32
	stopped chan struct{} // closed by the first Stop
}

func newHand() *hand { return newHandOf(0) }

// newHandOf has a channel with a buffer.
func newHandOf(buffer int) *hand {
	return &hand{c: make(chan time.Time, buffer), stopped: make(chan struct{})}
}

func (h *hand) Chan() <-chan time.Time { return h.c }

func (h *hand) Stop() {
	if h.stops.Add(1) == 1 {
		close(h.stopped)
	}
}

// tick returns when the tick was received, or put into the buffer, or nobody will
// receive it any more.
func (h *hand) tick() {
	select {
	case h.c <- time.Time{}:
	case <-h.stopped:
	}
}

// ran is what tasks have noted, and when.
type ran struct {
	mu    sync.Mutex
	when  string
	noted []string
}

// at is what time it is from now on.
func (r *ran) at(when any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.when = fmt.Sprint(when)
}

// note is an Execute.
func (r *ran) note(key, value any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noted = append(r.noted, fmt.Sprintf("%v=%v@%s", key, value, r.when))
}

// take returns what was noted since it was last called, sorted: what is due
// together runs together.
func (r *ran) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	noted := r.noted
	r.noted = nil
	slices.Sort(noted)
	return noted
}

// interval is that of the wheels that have tickers here.
const interval = time.Second

func newTicking(t testing.TB, slots int, execute compat.Execute, ticker compat.Ticker) *compat.TimingWheel {
	t.Helper()
	w, err := compat.NewTimingWheelWithTicker(interval, slots, execute, ticker)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// onMock is a wheel on a mock; its tasks run in the test's own goroutine.
func onMock(t testing.TB, execute compat.Execute) (*compat.TimingWheel, *clock.Mock) {
	t.Helper()
	m := clock.NewMock()
	w, err := compat.NewTimingWheelWithClock(interval, 10, execute, m)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w, m
}

// logged has package slog log to what it returns, as JSON, for the rest of t.
func logged(t *testing.T) *logs {
	l := new(logs)
	before, out, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewJSONHandler(l, nil)))
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(out) // which the first SetDefault has changed
		log.SetFlags(flags)
	})
	return l
}

// logs is lines of JSON.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns what was logged since it was last called, without the time.
func (l *logs) take(t *testing.T) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for d := json.NewDecoder(&l.text); d.More(); {
		line := make(map[string]any)
		require.NoError(t, d.Decode(&line))
		delete(line, slog.TimeKey)
		lines = append(lines, line)
	}
	l.text.Reset()
	return lines
}
