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

// atMost is how long a test waits for an event that should come soon, before it fails. It
// is long enough for a slow machine.
const atMost = 30 * time.Second

// counted returns a new queue, and the number of timerfds that it has opened. When the test
// ends, its waiter and its timerfd must be gone.
func counted(t *testing.T) (q *Queue, opened *atomic.Int32) {
	t.Helper()
	requireGone(t) // the waiter of an earlier test lingers for a moment
	opened = new(atomic.Int32)
	q = newQueue(func() (*timerfd, error) {
		opened.Add(1)
		return openTimerfd()
	})
	t.Cleanup(func() {
		if t.Failed() { // the waiter may never end by itself, and would fail later tests
			locked(q, q.end)
		}
		requireGone(t)
	})
	return q, opened
}

// patient returns a counted queue whose waiter is not replaced, and stays until an alarm is
// stopped, however slow the machine is. Alarms an hour ahead are near.
func patient(t *testing.T) (q *Queue, opened *atomic.Int32) {
	t.Helper()
	q, opened = counted(t)
	q.trust = time.Hour
	q.near, q.hold = 10*time.Hour, 20*time.Hour
	return q, opened
}

// alarm returns an alarm of q that is stopped when the test ends.
func alarm(t *testing.T, q *Queue, ring func()) *Alarm {
	a := q.NewAlarm(epoch, ring)
	t.Cleanup(a.Stop)
	return a
}

// reportingAlarm returns an alarm of q that sends the time of each ring. A ring waits for
// its receiver until the test ends.
func reportingAlarm(t *testing.T, q *Queue) (a *Alarm, rings chan time.Duration) {
	rings = make(chan time.Duration)
	return alarm(t, q, func() {
		select {
		case rings <- sinceEpoch():
		case <-t.Context().Done():
		}
	}), rings
}

// locked calls f with q.mu held.
func locked(q *Queue, f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f()
}

// checkBackup returns an error if q's backup is not set as it should be. q.mu must be held.
func (q *Queue) checkBackup() error {
	at, waits := q.backup.at, q.waiting.Len() > 0
	switch {
	case q.waiter == nil && !waits && q.ringing == 0 && at != 0:
		return errors.New("the backup is set although no alarm waits or rings")
	case q.waiter == nil && waits && (at == 0 || at > q.waiting.First().at):
		return errors.New("the backup does not stand in for the waiter")
	case q.waiter == nil || q.waiter.rings != nil || q.aim == unaimed || q.aim < sinceEpoch():
		return nil
	case q.overload.lasts() && waits && (at == 0 || at > q.waiting.First().at):
		return errors.New("the backup does not help the overloaded waiter")
	case !(q.overload.lasts() && waits) && (at == 0 || at > later(q.aim, (guardAfter+1)*q.trust)):
		return errors.New("the backup does not guard the waiter")
	}
	return nil
}

// received returns the next value from c. The test fails if none comes.
func received[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(atMost):
		require.Fail(t, "nothing comes")
	}
	return v
}

// soon returns a time that is less than a millisecond away.
func soon() time.Duration { return sinceEpoch() + rand.N(time.Millisecond) }

// waiters returns the number of waiters in the process.
func waiters() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "wakeup.(*waiter).read(")
}

// requireGone waits until the process has no timerfd and no waiter.
func requireGone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(timerfds.Open()) == 0 && waiters() == 0 },
		atMost, time.Millisecond)
}
