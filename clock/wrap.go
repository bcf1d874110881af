package clock

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	benbjohnson "github.com/benbjohnson/clock"

	"github.com/epicycle-go/epicycle/clock/internal/serial"
)

// Wrap returns a Clock that uses c, any github.com/benbjohnson/clock Clock including its Mock. A Mock of that package
// runs callbacks in goroutines of their own and sleeps a real millisecond for each. So a wheel on such a Mock is no
// faster and no more deterministic than its other timers. For the result of Benbjohnson of a *Mock of this package, Wrap
// returns the *Mock itself.
//
// If a benbjohnson Mock is set back, elapsed time stands still until the mock has reached its earlier time again.
//
// Wrap panics if c is nil.
func Wrap(c benbjohnson.Clock) Clock {
	if v := reflect.ValueOf(c); c == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("clock: Wrap of a nil Clock")
	}
	if f, ok := c.(follower); ok {
		return f.mock
	}
	_, virtual := c.(*benbjohnson.Mock)
	return &wrapped{inner: c, start: c.Now(), virtual: virtual}
}

type wrapped struct {
	inner   benbjohnson.Clock
	start   time.Time
	virtual bool

	mu      sync.Mutex
	elapsed time.Duration // guarded by mu; the largest value returned by Elapsed
}

func (w *wrapped) String() string { return fmt.Sprintf("wrapped %T", w.inner) }
func (w *wrapped) Now() time.Time { return w.inner.Now() }
func (w *wrapped) Virtual() bool  { return w.virtual }

// Elapsed stands still while the inner clock catches up after it was set back.
func (w *wrapped) Elapsed() time.Duration {
	e := w.innerElapsed()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.elapsed = max(w.elapsed, e)
	return w.elapsed
}

func (w *wrapped) NewAlarm(ring func()) Alarm {
	return &timerAlarm{elapsed: w.innerElapsed, afterFunc: w.timer, call: serial.Call{F: ring}}
}

// innerElapsed returns the time in which the inner clock's timers count. It goes back when the inner clock is set back.
func (w *wrapped) innerElapsed() time.Duration { return w.inner.Since(w.start) }

func (w *wrapped) timer(d time.Duration, f func()) resettable { return w.inner.AfterFunc(d, f) }
