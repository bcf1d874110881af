package wakeup

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

// atMost is how long a test waits for what comes soon, however slow the machine is,
// before it fails.
const atMost = 30 * time.Second

// counted is a queue of its own, and how often it has opened a timerfd. Nothing of
// it is left when the test ends.
func counted(t *testing.T) (q *Queue, opened *atomic.Int32) {
	t.Helper()
	requireGone(t) // what an earlier test used lingers for a moment
	opened = new(atomic.Int32)
	q = newQueue(func() (*timerfd, error) {
		opened.Add(1)
		return openTimerfd()
	}, defaultLinger, defaultTrust)
	t.Cleanup(func() {
		if t.Failed() { // then it may have lost count, and later tests must not suffer
			locked(q, q.end)
		}
		requireGone(t)
	})
	return q, opened
}

// patient is a counted queue whose waiter neither goes nor is replaced while no alarm is stopped,
// however slow the machine is.
func patient(t *testing.T) (q *Queue, opened *atomic.Int32) {
	t.Helper()
	q, opened = counted(t)
	q.linger, q.trust = time.Hour, time.Hour
	return q, opened
}

// alarm makes an alarm of q that is stopped when the test ends.
func alarm(t *testing.T, q *Queue, ring func()) *Alarm {
	a := q.NewAlarm(epoch, ring)
	t.Cleanup(a.Stop)
	return a
}

// on makes an alarm of q that sends the time of each ring. A ring waits for its
// receiver, but no longer than the test goes on.
func reportingAlarm(t *testing.T, q *Queue) (a *Alarm, rings chan time.Duration) {
	rings = make(chan time.Duration)
	return alarm(t, q, func() {
		select {
		case rings <- sinceEpoch():
		case <-t.Context().Done():
		}
	}), rings
}

// locked runs f with the lock of q held.
func locked(q *Queue, f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f()
}

// checkBackup tells what is wrong with q's backup. Its lock must be held.
func (q *Queue) checkBackup() error {
	at, waits := q.backup.at, q.waiting.Len() > 0
	switch {
	case q.waiter == nil && !waits && q.ringing == 0 && at != 0:
		return errors.New("the backup is set for nobody")
	case q.waiter == nil && waits && (at == 0 || at > q.waiting.First().at):
		return errors.New("the backup does not stand in for the waiter")
	case q.waiter == nil || q.waiter.rings != nil || q.aim == unaimed || q.aim < sinceEpoch():
		return nil
	case q.overload.lasts() && waits && (at == 0 || at > q.waiting.First().at):
		return errors.New("the backup does not help the overloaded waiter")
	case !q.overload.lasts() && (at == 0 || at > later(q.aim, guardSpan*q.trust)):
		return errors.New("the backup does not guard the waiter")
	}
	return nil
}

// received is what comes out of c.
func received[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(atMost):
		require.Fail(t, "nothing comes")
	}
	return v
}

// soon is a time that is no more than a millisecond away.
func soon() time.Duration { return sinceEpoch() + rand.N(time.Millisecond) }

// waiters is how many waiters the process has.
func waiters() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "wakeup.(*waiter).read(")
}

// requireGone waits until nothing is left of any queue.
func requireGone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(timerfds.Open()) == 0 && waiters() == 0 },
		atMost, time.Millisecond)
}
