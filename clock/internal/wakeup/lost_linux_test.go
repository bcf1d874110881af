package wakeup

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// losses are ways to take the descriptor from a timerfd. The key says what its number names
// afterwards. The returned function fails the test if that file was changed or closed.
var losses = map[string]func(t *testing.T, number int) (requireIntact func()){
	"nothing":         loseToNothing,
	"a pipe":          loseToPipe,
	"another timerfd": loseToTimerfd,
}

func loseToNothing(t *testing.T, number int) func() {
	require.NoError(t, unix.Close(number))
	return func() {}
}

// loseToPipe makes the number name the read end of a pipe, which Go's poller waits for.
func loseToPipe(t *testing.T, number int) func() {
	var ends [2]int
	require.NoError(t, unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
	require.NoError(t, unix.Dup3(ends[0], number, unix.O_CLOEXEC))
	require.NoError(t, unix.Close(ends[0]))
	from, to := os.NewFile(uintptr(number), "from"), os.NewFile(uintptr(ends[1]), "to")
	t.Cleanup(func() { _, _ = from.Close(), to.Close() })
	come := make(chan error, 1)
	go func() {
		_, err := from.Read(make([]byte, 1))
		come <- err
	}()
	return func() {
		_, err := to.Write([]byte("."))
		require.NoError(t, err)
		require.NoError(t, received(t, come))
	}
}

// loseToTimerfd makes the number name another timerfd.
func loseToTimerfd(t *testing.T, number int) func() {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	require.NoError(t, err)
	require.NoError(t, unix.Dup3(fd, number, unix.O_CLOEXEC))
	require.NoError(t, unix.Close(fd))
	t.Cleanup(func() { _ = unix.Close(number) })
	set := unix.ItimerSpec{
		Value:    unix.NsecToTimespec(int64(time.Hour)),
		Interval: unix.NsecToTimespec(int64(time.Minute)),
	}
	require.NoError(t, unix.TimerfdSettime(number, 0, &set, nil))
	return func() {
		var is unix.ItimerSpec
		require.NoError(t, unix.TimerfdGettime(number, &is))
		require.Equal(t, set.Interval, is.Interval)
		require.InDelta(t, time.Hour, is.Value.Nano(), float64(30*time.Minute))
	}
}

// forEachLoss calls f for each way to lose the descriptor. The queue has an alarm an hour
// ahead and is patient. lose reports whether there was a descriptor to lose. After f, the queue
// must open another timerfd. The file that the old number names must be intact after the last
// alarm is stopped and garbage is collected.
func forEachLoss(t *testing.T, f func(t *testing.T, q *Queue, lose func() bool)) {
	for name, loss := range losses {
		t.Run(name, func(t *testing.T) {
			q, opened := patient(t)
			far, _ := reportingAlarm(t, q)
			far.Set(sinceEpoch() + time.Hour)
			requireIntact := func() { t.Error("the descriptor was not lost") }
			f(t, q, func() (lost bool) {
				locked(q, func() {
					if lost = q.waiter != nil; lost {
						requireIntact = loss(t, q.waiter.fd.fd)
					}
				})
				return lost
			})

			far.Set(sinceEpoch() + 2*time.Hour)
			locked(q, func() { q.retry = 0 }) // a while has passed
			far.Set(sinceEpoch() + time.Hour)
			require.GreaterOrEqual(t, opened.Load(), int32(2))
			locked(q, func() { require.NoError(t, q.waiter.fd.check()) })
			far.Stop()
			require.Eventually(t, func() bool { return waiters() == 0 }, atMost, time.Millisecond)
			collectGarbage(t)
			requireIntact()
		})
	}
}

// collectGarbage returns when the finalizers of all current garbage have run. Finalizers
// run one after the other.
func collectGarbage(t *testing.T) {
	for range 2 {
		ran := make(chan bool)
		runtime.SetFinalizer(&struct{ p *int }{}, func(any) { close(ran) })
		runtime.GC()
		received(t, ran)
	}
}

// Each aim notices that the descriptor is lost.
func TestDescriptorLostBeforeASet(t *testing.T) {
	forEachLoss(t, func(t *testing.T, q *Queue, lose func() bool) {
		a, rings := reportingAlarm(t, q)
		require.True(t, lose())
		for range 3 {
			aim := sinceEpoch() + 5*time.Millisecond
			a.Set(aim)
			require.GreaterOrEqual(t, received(t, rings), aim)
		}
		a.Stop()
	})
}

// If no call aims the timerfd, the backup notices that the descriptor is lost.
func TestDescriptorLostWhileAlarmsWait(t *testing.T) {
	forEachLoss(t, func(t *testing.T, q *Queue, lose func() bool) {
		locked(q, func() { q.trust = 10 * time.Millisecond })
		a, rings := reportingAlarm(t, q)
		for lost := false; !lost; { // a waiter that a slow machine delays is taken to be lost
			aim := sinceEpoch() + 50*time.Millisecond
			a.Set(aim)
			lost = lose()
			require.GreaterOrEqual(t, received(t, rings), aim)
		}
		locked(q, func() { q.trust = time.Hour })
		a.Stop()
	})
}

// The timerfd is no longer armed, as may happen when a process is restored from a snapshot.
func TestDescriptorDisarmed(t *testing.T) {
	q, _ := counted(t)
	q.trust = 10 * time.Millisecond
	a, rings := reportingAlarm(t, q)
	for range 3 {
		aim := sinceEpoch() + 50*time.Millisecond
		a.Set(aim)
		locked(q, func() {
			if q.waiter != nil {
				spec := unix.ItimerSpec{Interval: q.waiter.fd.mark}
				require.NoError(t, unix.TimerfdSettime(q.waiter.fd.fd, 0, &spec, nil))
			}
		})
		require.GreaterOrEqual(t, received(t, rings), aim)
	}
	a.Stop()
	requireGone(t)
}

// The waiter ends because it cannot wait, and the queue notices that.
func TestWaitingFails(t *testing.T) {
	q, opened := patient(t)
	a, rings := reportingAlarm(t, q)
	for opened.Load() < 3 { // an alarm that is already due needs no waiter
		aim := sinceEpoch() + 50*time.Millisecond
		a.Set(aim)
		var file *os.File
		locked(q, func() {
			if q.waiter != nil {
				file = q.waiter.fd.file
			}
		})
		if file != nil {
			require.NoError(t, file.Close())
			require.Eventually(t, func() (noticed bool) {
				locked(q, func() { noticed = q.failed != nil; q.retry = 0 })
				return noticed
			}, atMost, time.Millisecond)
		}
		require.GreaterOrEqual(t, received(t, rings), aim)
	}
	a.Stop()
	requireGone(t)
}

// String checks which mechanism works now.
func TestStringOfALostDescriptor(t *testing.T) {
	q, _ := patient(t)
	a, _ := reportingAlarm(t, q)
	a.Set(sinceEpoch() + time.Hour)
	locked(q, func() {
		loseToNothing(t, q.waiter.fd.fd)
		q.open = func() (*timerfd, error) { return nil, errors.New("none to be had") }
	})
	require.Equal(t, "runtime timers: none to be had", q.String())
}

// A waiter that is ringing an alarm is not taken to be lost.
func TestWaiterThatRingsIsNotLost(t *testing.T) {
	q, opened := patient(t)
	rang, release := make(chan bool, 1), make(chan bool)
	a := alarm(t, q, func() { rang <- true; <-release })
	t.Cleanup(func() { close(release) })
	for ringing := false; !ringing; { // an alarm that is already due needs no waiter
		a.Set(sinceEpoch() + 5*time.Millisecond)
		received(t, rang)
		locked(q, func() {
			if ringing = q.waiter != nil && q.waiter.rings == a; ringing {
				q.aim = sinceEpoch() - q.trust // as if the ring had taken so long
			}
		})
		if ringing {
			q.backupFired()
		}
		release <- true
	}
	a.Set(sinceEpoch() + time.Hour)
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}
