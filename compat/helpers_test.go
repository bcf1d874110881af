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

// Where tasks run in their own goroutines, the tests run in a synctest bubble. settle
// returns when every goroutine of the bubble is blocked: what has not happened by then
// will not happen. No test waits for real time.
func settle() { synctest.Wait() }

// fakeTicker is a ticker whose ticks the test sends.
type fakeTicker struct {
	c       chan time.Time
	stops   atomic.Int32
	stopped chan struct{} // closed by the first Stop
}

func newFakeTicker() *fakeTicker { return newBufferedTicker(0) }

// newBufferedTicker makes a fakeTicker whose channel has a buffer.
func newBufferedTicker(buffer int) *fakeTicker {
	return &fakeTicker{c: make(chan time.Time, buffer), stopped: make(chan struct{})}
}

func (f *fakeTicker) Chan() <-chan time.Time { return f.c }

func (f *fakeTicker) Stop() {
	if f.stops.Add(1) == 1 {
		close(f.stopped)
	}
}

// tick sends a tick. It returns when the tick is received or in the buffer, or when the
// ticker is stopped.
func (f *fakeTicker) tick() {
	select {
	case f.c <- time.Time{}:
	case <-f.stopped:
	}
}

// taskLog records which tasks ran, and when.
type taskLog struct {
	mu    sync.Mutex
	when  string
	tasks []string
}

// at sets the time that record adds from now on.
func (r *taskLog) at(when any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.when = fmt.Sprint(when)
}

// record is an Execute that records the task.
func (r *taskLog) record(key, value any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks = append(r.tasks, fmt.Sprintf("%v=%v@%s", key, value, r.when))
}

// take returns the tasks that were recorded since the last call. They are sorted, because
// tasks that are due together run concurrently.
func (r *taskLog) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	tasks := r.tasks
	r.tasks = nil
	slices.Sort(tasks)
	return tasks
}

// interval is that of most wheels in these tests.
const interval = time.Second

func newTickerWheel(t testing.TB, slots int, execute compat.Execute, ticker compat.Ticker) *compat.TimingWheel {
	t.Helper()
	w, err := compat.NewTimingWheelWithTicker(interval, slots, execute, ticker)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// onMock makes a wheel on a mock. Its tasks run in the goroutine of the test.
func onMock(t testing.TB, execute compat.Execute) (*compat.TimingWheel, *clock.Mock) {
	t.Helper()
	m := clock.NewMock()
	w, err := compat.NewTimingWheelWithClock(interval, 10, execute, m)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w, m
}

// captureLogs makes package slog log to the returned buffer, as JSON, until t ends.
func captureLogs(t *testing.T) *logBuffer {
	l := new(logBuffer)
	before, out, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewJSONHandler(l, nil)))
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(out) // changed by the first SetDefault
		log.SetFlags(flags)
	})
	return l
}

// logBuffer has lines of log, as JSON.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns the lines that were logged since the last call, without their times.
func (l *logBuffer) take(t *testing.T) (lines []map[string]any) {
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
