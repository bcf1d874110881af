package clock

import (
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerfd is a descriptor of the kernel's that can be read from a certain time
// of CLOCK_MONOTONIC on. The runtime's network poller waits for it.
type timerfd struct {
	fd   int // valid until close
	file *os.File
	conn syscall.RawConn
	base int64 // what CLOCK_MONOTONIC said at epoch, in nanoseconds
}

func openTimerfd() (*timerfd, error) {
	base, err := monotonicAtEpoch()
	if err != nil {
		return nil, err
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	t := &timerfd{fd: fd, file: os.NewFile(uintptr(fd), "timerfd"), base: base}
	if t.conn, err = t.file.SyscallConn(); err != nil {
		t.close()
		return nil, err
	}
	if err := t.file.SetReadDeadline(time.Time{}); err != nil {
		t.close() // the poller does not take it
		return nil, err
	}
	return t, nil
}

// monotonicAtEpoch is read between two readings of the runtime's clock, which is
// the same one, and errs by the time between those, to the late side.
func monotonicAtEpoch() (base int64, err error) {
	shortest := time.Duration(math.MaxInt64)
	for range 3 {
		var kernel unix.Timespec
		before := sinceEpoch()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &kernel); err != nil {
			return 0, os.NewSyscallError("clock_gettime", err)
		}
		if took := sinceEpoch() - before; took < shortest {
			shortest, base = took, kernel.Nano()-int64(before)
		}
	}
	return base, nil
}

// furthest is the furthest time that is aimed at: the kernel's seconds may have
// 32 bits. It is earlier than many an alarm; then the reader comes for nothing.
const furthest = 50 * 365 * 24 * time.Hour

// aim has the descriptor expire at a time after epoch, at once if it is past.
// Whatever it was aimed at before is forgotten, also if that has come. It fails for
// good or never: whoever opens the descriptor asks, later nobody needs to.
func (t *timerfd) aim(at time.Duration) error {
	at = max(1, min(at, furthest)+time.Duration(t.base))
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(at))}
	return unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

// wait calls f at once, and again whenever the descriptor may have expired,
// until it returns true, or until interrupt is called: then it returns false.
//
// Nothing is read from the descriptor. It announces each time it expires, and
// aiming it takes back that it has.
func (t *timerfd) wait(f func() (done bool)) bool {
	return t.conn.Read(func(uintptr) bool { return f() }) == nil
}

// interrupt ends wait, now and for good.
func (t *timerfd) interrupt() { _ = t.file.SetReadDeadline(time.Unix(1, 0)) }

func (t *timerfd) close() { _ = t.file.Close() }
