package wakeup

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakes stands for the timerfds that a waker opens in a bubble, where the kernel's time means nothing.
type fakes struct {
	mu sync.Mutex
	state
	refuse error // of the next open
	lost   error // of the one that is open
}

type state struct {
	opened, closed int
	aimedAt        time.Duration // of the one that is open
}

func (s state) isOpen() bool { return s.opened > s.closed }

func (f *fakes) open() (expiry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return nil, f.refuse
	}
	f.opened++
	f.aimedAt, f.lost = 0, nil
	return f, nil
}

func (f *fakes) aim(at time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost == nil {
		f.aimedAt = at
	}
	return f.lost
}

func (f *fakes) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

func (f *fakes) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
}

func (f *fakes) now() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// set makes the next open fail, and aims of what is open.
func (f *fakes) set(refuse, lost error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse, f.lost = refuse, lost
}

var errFake = errors.New("none to be had")

// times are the times at which something happened.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (x *times) add() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, sinceEpoch())
}

// taken returns the times, and forgets them.
func (x *times) taken() []time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.all
	x.all = nil
	return all
}

// inBubble calls f in a bubble, with a waker that has fakes for timerfds, and with an epoch in the bubble's time. When f
// returns, no alarm may be set, and the timerfd must be closed.
func inBubble(t *testing.T, f func(t *testing.T, w *Waker, fds *fakes)) {
	t.Helper()
	outside := epoch
	defer func() { epoch = outside }()
	synctest.Test(t, func(t *testing.T) {
		epoch = time.Now()
		var fds fakes
		w := newWaker(fds.open)
		f(t, w, &fds)
		pass(300 * time.Millisecond) // as promised
		require.Zero(t, w.watched.Len())
		require.False(t, fds.now().isOpen())
	})
}

// pass lets time pass in a bubble, and returns when all is done that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// alarm returns an alarm of w, and the times at which it rings.
func alarm(w *Waker) (*Alarm, *times) {
	var rings times
	return w.NewAlarm(epoch, rings.add), &rings
}
