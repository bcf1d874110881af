package wheelctx

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errStopped, errFull = errors.New("stopped"), errors.New("full")

// fake is a Wheel whose time is set by hand.
type fake struct {
	now     int64
	mu      sync.Mutex // guards timers and due
	timers  map[Timer]func()
	due     map[Timer]int64
	stopped *Outcome
	full    bool
	hook    func() // called by Passed
	crowded bool
}

func newFake() *fake {
	return &fake{timers: map[Timer]func(){}, due: map[Timer]int64{}, hook: func() {}}
}

func (w *fake) Add(f func(), _, due int64) (t Timer, crowded bool, err error) {
	if w.full {
		return Timer{}, false, errFull
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t = Timer{Generation: uint64(len(w.due) + 1), Index: 3, Shard: 1}
	w.timers[t], w.due[t] = f, due
	return t, w.crowded, nil
}

func (w *fake) Stop(t Timer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, pending := w.timers[t]
	delete(w.timers, t)
	return pending
}

func (w *fake) Passed(_, due int64) bool {
	w.hook()
	return due <= w.now
}

func (w *fake) Stopped() *Outcome { return w.stopped }
func (w *fake) Elapsed() int64    { return w.now }
func (w *fake) Now() time.Time    { return time.Unix(0, w.now) }

func (w *fake) make(parent context.Context, d int64, cause error) (context.Context, context.CancelFunc) {
	return New(w, parent, time.Unix(0, w.now+d), w.now, w.now+d, cause)
}

// fire calls what is due at that time, or all when the wheel stops.
func (w *fake) fire(now int64) {
	w.now = now
	for t, f := range w.timers {
		if w.due[t] <= now || w.stopped != nil {
			w.Stop(t)
			f()
		}
	}
}

// A context uses the wheel for its deadline, and leaves nothing there when it ends before.
func TestContextOnAWheel(t *testing.T) {
	cause := errors.New("a cause")
	w := newFake()
	early, cancelEarly := w.make(context.Background(), 10, cause)
	below, cancelBelow := w.make(early, 20, nil)
	other, cancelOther := w.make(context.Background(), 10, nil)
	require.Len(t, w.timers, 3)
	cancelOther()
	require.Len(t, w.timers, 2)
	require.Equal(t, context.Canceled, other.Err())
	w.fire(10)
	for _, ctx := range []context.Context{early, below} {
		require.Equal(t, context.DeadlineExceeded, ctx.Err())
		require.Equal(t, cause, context.Cause(ctx))
	}
	require.Empty(t, w.timers)
	cancelEarly()
	cancelBelow()
	passed, cancelPassed := w.make(context.Background(), 0, cause)
	defer cancelPassed()
	require.Equal(t, cause, context.Cause(passed))
	require.Empty(t, w.timers)
}

// A context ends as its wheel says when that is stopped, and with the error of one that takes no
// timer.
func TestContextOnAWheelThatEnds(t *testing.T) {
	w := newFake()
	ctx, cancel := w.make(context.Background(), 10, nil)
	defer cancel()
	w.stopped = NewOutcome(context.Canceled, errStopped)
	w.fire(5)
	require.Equal(t, context.Canceled, ctx.Err())
	require.Equal(t, errStopped, context.Cause(ctx))

	late, cancelLate := w.make(context.Background(), 0, nil)
	defer cancelLate()
	require.Equal(t, errStopped, context.Cause(late))
	w.stopped, w.full = nil, true
	refused, cancelRefused := w.make(context.Background(), 10, nil)
	defer cancelRefused()
	require.Equal(t, context.Canceled, refused.Err())
	require.Equal(t, errFull, context.Cause(refused))
}

// A context ends even if its parent does so while it is made.
func TestContextWhoseParentEndsMeanwhile(t *testing.T) {
	w := newFake()
	for _, value := range []bool{false, true} {
		parent, cancelParent := w.make(context.Background(), 10, nil)
		above := parent
		if value {
			above = context.WithValue(parent, timeoutContextKey{}, parent)
		}
		w.hook = cancelParent
		ctx, cancel := w.make(above, 5, nil)
		w.hook = func() {}
		require.Equal(t, context.Canceled, ctx.Err())
		<-ctx.Done()
		require.Empty(t, w.timers)
		cancel()
	}
}

// Err and Cause are set before Done is closed.
func TestContextHasItsErrorBeforeItIsDone(t *testing.T) {
	cancellable, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for _, parent := range []context.Context{context.Background(), cancellable} {
		for _, atDeadline := range []bool{false, true} {
			w := newFake()
			ctx, cancel := w.make(parent, 10, errStopped)
			done := ctx.Done()
			l, ended := ctx.(*timeoutContext).links.Load(), false
			end := l.endDoneCtx
			l.endDoneCtx = func() {
				end()
				<-done
				require.Error(t, ctx.Err())
				require.Equal(t, atDeadline, context.Cause(ctx) == errStopped)
				ended = true
			}
			if atDeadline {
				w.fire(10)
			}
			cancel()
			require.True(t, ended)
		}
	}
}
