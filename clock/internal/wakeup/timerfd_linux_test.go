package wakeup

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

// atMost is how long a test waits for an event that should come soon, before it fails.
const atMost = time.Minute

func openForTest(t *testing.T) *timerfd {
	e, err := openTimerfd()
	require.NoError(t, err)
	t.Cleanup(func() {
		e.close()
		require.Eventually(t, func() bool { return len(timerfds.Open()) == 0 }, atMost, time.Millisecond)
	})
	return e.(*timerfd)
}

// expired reports whether the timerfd has expired, by d from now at the latest.
func (t *timerfd) expired(d time.Duration) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLIN}}, int(d.Milliseconds()))
	return err == nil && n == 1
}

// A timerfd expires when its aim has passed, not before, and not again.
func TestTimerfdExpires(t *testing.T) {
	fd := openForTest(t)
	require.False(t, fd.expired(0))
	for range 20 {
		at := sinceEpoch() + 2*time.Millisecond
		require.NoError(t, fd.aim(at))
		for !fd.expired(atMost) { // a signal may end the call
		}
		require.GreaterOrEqual(t, sinceEpoch(), at)
	}
	require.NoError(t, fd.aim(sinceEpoch()+time.Hour))
	require.False(t, fd.expired(0))
	require.NoError(t, fd.aim(-sinceEpoch()))
	for !fd.expired(atMost) {
	}
	require.NoError(t, fd.check())
}

// losses are ways to take the descriptor from a timerfd. The key says what its number names afterwards. The returned
// function fails the test if that file was changed or closed.
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

// A timerfd whose descriptor was lost says so when it is aimed or checked. The file that its number names then is never
// aimed or closed, not even when garbage is collected.
func TestDescriptorLost(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			fd, err := openTimerfd()
			require.NoError(t, err)
			require.NoError(t, fd.aim(sinceEpoch()+time.Hour))
			requireIntact := lose(t, fd.(*timerfd).fd)
			require.Error(t, fd.check())
			require.Error(t, fd.aim(sinceEpoch()))
			fd.close()
			fd = nil
			collectGarbage(t)
			requireIntact()
		})
	}
}

// The process can't have a timerfd while it has no descriptors, and is told why.
func TestNoDescriptorForATimerfd(t *testing.T) {
	openForTest(t) // the poller has its descriptors
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	_, err := openTimerfd()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	require.ErrorIs(t, err, unix.EMFILE)
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
