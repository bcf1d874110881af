package clock

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atMost is how long a test waits for what comes soon, however slow the machine is,
// before it fails.
const atMost = 30 * time.Second

// counted is a keeper of its own, and how often it has opened a timerfd. Nothing of
// it is left when the test ends.
func counted(t *testing.T) (k *keeper, opened *atomic.Int32) {
	t.Helper()
	requireGone(t) // what an earlier test used lingers for a moment
	opened = new(atomic.Int32)
	k = &keeper{linger: lingers, trust: trusts, open: func() (*timerfd, error) {
		opened.Add(1)
		return openTimerfd()
	}}
	t.Cleanup(func() {
		if t.Failed() { // then it may have lost count, and later tests must not suffer
			locked(k, k.end)
		}
		requireGone(t)
	})
	return k, opened
}

// patient is a counted keeper whose reader neither goes nor is replaced while no alarm is stopped,
// however slow the machine is.
func patient(t *testing.T) (k *keeper, opened *atomic.Int32) {
	t.Helper()
	k, opened = counted(t)
	k.linger, k.trust = time.Hour, time.Hour
	return k, opened
}

// alarm makes an alarm of k that is stopped when the test ends.
func alarm(t *testing.T, k *keeper, ring func()) *preciseAlarm {
	a := &preciseAlarm{keeper: k}
	a.ringer.ring = ring
	t.Cleanup(a.Stop)
	return a
}

// on makes an alarm of k that sends the time of each ring. A ring waits for its
// receiver, but no longer than the test goes on.
func on(t *testing.T, k *keeper) (a *preciseAlarm, rings chan time.Duration) {
	rings = make(chan time.Duration)
	return alarm(t, k, func() {
		select {
		case rings <- sinceEpoch():
		case <-t.Context().Done():
		}
	}), rings
}

// locked runs f with the lock of k held.
func locked(k *keeper, f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// checkBackup tells what is wrong with k's backup. Its lock must be held.
func (k *keeper) checkBackup() error {
	at, waits := k.backup.at, k.waiting.len() > 0
	switch {
	case k.reader == nil && !waits && k.ringing == 0 && at != 0:
		return errors.New("the backup is set for nobody")
	case k.reader == nil && waits && (at == 0 || at > k.waiting.first().at):
		return errors.New("the backup does not stand in for the reader")
	case k.reader == nil || k.reader.rings != nil || k.aim == never || k.aim < sinceEpoch():
		return nil
	case k.strain.lasts() && waits && (at == 0 || at > k.waiting.first().at):
		return errors.New("the backup does not help the strained reader")
	case !k.strain.lasts() && (at == 0 || at > later(k.aim, guardSpan*k.trust)):
		return errors.New("the backup does not guard the reader")
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

// Timerfds are the numbers of the process's timerfds. The tests outside the package
// use it too.
func Timerfds(t *testing.T) (numbers []int) {
	all, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && strings.Contains(to, "timerfd") {
			n, err := strconv.Atoi(filepath.Base(fd))
			require.NoError(t, err)
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// readers is how many readers the process has.
func readers() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "clock.(*reader).read(")
}

// requireGone waits until nothing is left of any keeper.
func requireGone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return len(Timerfds(t)) == 0 && readers() == 0 },
		atMost, time.Millisecond)
}
