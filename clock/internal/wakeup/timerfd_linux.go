package wakeup

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// timerfd is a descriptor that becomes readable at a certain time of CLOCK_MONOTONIC. The runtime's network poller
// watches it. Nobody reads it.
//
// Other code may close the descriptor by its number. The number then names nothing, or the
// next file that is opened, which may be another timerfd. Therefore the timerfd carries a
// mark that no other timerfd has, and the mark is checked before the timerfd is aimed or
// closed.
type timerfd struct {
	fd   int // valid until close
	file *os.File
	base int64         // CLOCK_MONOTONIC at epoch, in nanoseconds
	mark unix.Timespec // the interval of the timerfd
}

func openTimerfd() (expiry, error) {
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

// newMark returns a random interval that no other timerfd is likely to have. It is decades long, so the timerfd never
// expires a second time.
func newMark() unix.Timespec {
	const decades = 50 * 365 * 24 * time.Hour // seconds may have 32 bits
	return unix.NsecToTimespec(int64(decades - rand.N(decades/2)))
}

// prepare tries every operation that the timerfd needs, and returns the first error.
func (t *timerfd) prepare() error {
	if err := t.file.SetReadDeadline(time.Time{}); err != nil {
		return err // the poller does not support the descriptor
	}
	if err := t.set(unix.Timespec{}); err != nil {
		return err
	}
	return t.check()
}

// monotonicAtEpoch reads CLOCK_MONOTONIC between two readings of the runtime's clock, which
// is the same clock. The result is too late by at most the time between the two readings.
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

// aim makes the timerfd expire at the time at since epoch, or at once if that time is past. It replaces the previous
// aim.
func (t *timerfd) aim(at time.Duration) error {
	if err := t.check(); err != nil {
		return err
	}
	return t.set(unix.NsecToTimespec(max(1, int64(at)+t.base)))
}

func (t *timerfd) set(at unix.Timespec) error {
	spec := unix.ItimerSpec{Value: at, Interval: t.mark}
	err := unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
	return os.NewSyscallError("timerfd_settime", err)
}

var errForeign = errors.New("the timerfd was closed, and its number names another one")

// check returns an error if the number no longer names this timerfd. It cannot detect that
// the descriptor is closed right after the check.
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

// close closes the descriptor, unless its number no longer names this timerfd.
func (t *timerfd) close() {
	if t.check() == nil {
		_ = t.file.Close()
	} else {
		stray(t.file)
	}
}

// strays are files whose descriptors were closed by other code. They are kept forever. If
// the garbage collector collected one, it would close the file that has the number now.
var strays struct {
	mu    sync.Mutex
	files []*os.File // guarded by mu
}

func stray(f *os.File) {
	strays.mu.Lock()
	strays.files = append(strays.files, f)
	strays.mu.Unlock()
}
