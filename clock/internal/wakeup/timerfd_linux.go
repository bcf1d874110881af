package wakeup

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerfd is a descriptor of the kernel's that can be read from a certain time
// of CLOCK_MONOTONIC on. The runtime's network poller waits for it.
//
// Others may close it behind our back, by its number, which then names nothing, or
// whatever is opened next, a timerfd of theirs maybe. So it carries a mark that no
// other has, and before it is aimed or closed it is looked whether the mark is there.
type timerfd struct {
	fd   int // valid until close
	file *os.File
	conn syscall.RawConn
	base int64         // what CLOCK_MONOTONIC said at epoch, in nanoseconds
	mark unix.Timespec // the interval that it is set to
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
	t := &timerfd{fd: fd, file: os.NewFile(uintptr(fd), "timerfd"), base: base, mark: newMark()}
	if err := t.prepare(); err != nil {
		_ = t.file.Close()
		return nil, err
	}
	return t, nil
}

// newMark is an interval that no other timerfd is likely to have, and so long that it
// unaimed passes.
func newMark() unix.Timespec { return unix.NsecToTimespec(int64(furthest - rand.N(furthest/2))) }

// prepare sees whether all that is done with the descriptor can be done.
func (t *timerfd) prepare() (err error) {
	if t.conn, err = t.file.SyscallConn(); err != nil {
		return err
	}
	if err := t.file.SetReadDeadline(time.Time{}); err != nil {
		return err // the poller does not take it
	}
	if err := t.set(unix.Timespec{}); err != nil {
		return err
	}
	return t.check()
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
// 32 bits. It is earlier than many an alarm; then the waiter comes for nothing.
const furthest = 50 * 365 * 24 * time.Hour

// aim has the descriptor expire at a time after epoch, at once if it is past.
// Whatever it was aimed at before is forgotten, also if that has come.
func (t *timerfd) aim(at time.Duration) error {
	if err := t.check(); err != nil {
		return err
	}
	at = max(1, min(at, furthest)+time.Duration(t.base))
	return t.set(unix.NsecToTimespec(int64(at)))
}

func (t *timerfd) set(at unix.Timespec) error {
	spec := unix.ItimerSpec{Value: at, Interval: t.mark}
	err := unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
	return os.NewSyscallError("timerfd_settime", err)
}

var errForeign = errors.New("the timerfd was closed, and its number names another one")

// check tells whether the number still names what was opened. Whoever closes it in
// the moment that follows can't be helped.
func (t *timerfd) check() error {
	var spec unix.ItimerSpec
	if err := unix.TimerfdGettime(t.fd, &spec); err != nil {
		return os.NewSyscallError("timerfd_gettime", err)
	}
	if spec.Interval != t.mark {
		return errForeign
	}
	return nil
}

// wait calls f at once, and again whenever the descriptor may have expired,
// until it returns true. If it can't wait it returns an error, after interrupt too.
//
// Nothing is read from the descriptor. It announces each time it expires, and
// aiming it takes back that it has.
func (t *timerfd) wait(f func() (done bool)) error {
	return t.conn.Read(func(uintptr) bool { return f() })
}

// interrupt ends wait, now and for good. It is the runtime's alone, no call of the
// kernel.
func (t *timerfd) interrupt() { _ = t.file.SetReadDeadline(time.Unix(1, 0)) }

// close closes the descriptor, unless its number names something else.
func (t *timerfd) close() {
	if t.check() == nil {
		_ = t.file.Close()
	} else {
		stray(t.file)
	}
}

// strays are files whose descriptors are no longer theirs. They are kept for ever: the
// garbage collector would close them, and with them what has their numbers.
var strays struct {
	mu    sync.Mutex
	files []*os.File // guarded by mu
}

func stray(f *os.File) {
	strays.mu.Lock()
	strays.files = append(strays.files, f)
	strays.mu.Unlock()
}
