package recipes

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// loop calls functions in one goroutine, which sleeps until the next one is due. Any
// goroutine may add functions.
type loop struct {
	start   time.Time     // times are counted from here
	earlier chan struct{} // has room for one: something is due earlier than all others

	mu     sync.Mutex
	timers hierarchy.Driven[func()] // guarded by mu
}

func newLoop() *loop { return &loop{start: time.Now(), earlier: make(chan struct{}, 1)} }

func (l *loop) after(d time.Duration, f func()) hierarchy.Handle {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := time.Since(l.start) + d
	h := l.timers.Set(f, due)
	if next, _ := l.timers.Next(); next == due {
		select {
		case l.earlier <- struct{}{}:
		default: // the loop will look anyway
		}
	}
	return h
}

// cancel reports whether it was in time.
func (l *loop) cancel(h hierarchy.Handle) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, pending := l.timers.Remove(h)
	return pending
}

func (l *loop) run(ctx context.Context) {
	for {
		due, sleep := l.take()
		for _, f := range due {
			f()
		}
		select {
		case <-ctx.Done():
			return
		case <-l.earlier:
		case <-time.After(sleep):
		}
	}
}

// most is how many functions are taken under one hold of the lock.
const most = 256

// take returns functions that are due, and how long the loop may sleep then.
func (l *loop) take() (due []func(), sleep time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.start)
	for f := range l.timers.Expire(now) {
		if due = append(due, f); len(due) == most {
			return due, 0
		}
	}
	if next, ok := l.timers.Next(); ok {
		return due, next - now
	}
	return due, math.MaxInt64
}

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop()
		type call struct {
			name string
			at   time.Duration
		}
		var calls []call
		note := func(name string) func() { return func() { calls = append(calls, call{name, time.Since(l.start)}) } }
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { l.run(ctx) })

		synctest.Wait()
		l.after(time.Minute, note("minute"))
		h := l.after(time.Second, note("cancelled"))
		synctest.Wait()
		l.after(time.Millisecond, note("earlier"))
		require.True(t, l.cancel(h))
		require.False(t, l.cancel(h))
		crowd := 0
		for range 3*most + 1 {
			l.after(time.Hour, func() { crowd++ })
		}
		l.after(2*time.Minute, func() { l.after(0, note("at once")) })
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []call{
			{"earlier", time.Millisecond}, {"minute", time.Minute}, {"at once", 2 * time.Minute},
		}, calls)
		require.Equal(t, 3*most+1, crowd)
		stop()
		running.Wait()
	})
}
