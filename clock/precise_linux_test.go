package clock_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// All wheels together use one descriptor and one goroutine, and none while their timers are
// far. Both are gone when the wheels are stopped.
func TestManyWheelsShareOneDescriptor(t *testing.T) {
	require.Eventually(t, func() bool { return len(timerfds.Open()) == 0 }, time.Minute, time.Millisecond)
	before := runtime.NumGoroutine()
	var wheels []*hierarchy.Wheel
	for range 500 {
		w := newWheel(t, nil, nil)
		after(t, w, time.Hour, func() {})
		wheels = append(wheels, w)
	}
	require.Empty(t, timerfds.Open())
	require.Eventually(t, func() bool { // this function has a goroutine, and garbage may have one for a moment
		return runtime.NumGoroutine() <= before+1
	}, time.Minute, time.Millisecond)
	for open := 0; open == 0; {
		for _, w := range wheels {
			after(t, w, 100*time.Millisecond, func() {})
		}
		open = len(timerfds.Open())
		require.LessOrEqual(t, open, 1)
	}
	for _, w := range wheels {
		w.Stop()
	}
	require.Eventually(t, func() bool {
		return len(timerfds.Open()) == 0 && runtime.NumGoroutine() <= before+1 // this function's
	}, time.Minute, time.Millisecond)
}

// Before an alarm that was set far ahead rings, its owner is asked whether it needs the ring.
// The machine may be so slow that the alarm rings instead, so there are several tries.
func TestReviewBeforeARing(t *testing.T) {
	for _, c := range []clock.Clock{clock.Precise(), clock.Spinning(100 * time.Microsecond)} {
		reviewed := false
		for range 20 {
			asked, rang := make(chan bool, 1), make(chan bool, 1)
			a := c.NewAlarm(func() { rang <- true })
			a.(interface{ Review(func()) }).Review(func() { a.Stop(); asked <- true })
			a.Set(c.Elapsed() + 300*time.Millisecond)
			select {
			case reviewed = <-asked:
			case <-rang:
			}
			if a.Stop(); reviewed {
				break
			}
		}
		require.True(t, reviewed)
	}
}

func TestPreciseStringNamesTheMechanism(t *testing.T) {
	require.Equal(t, "precise, by timerfd", fmt.Sprint(clock.Precise()))
	require.Equal(t, "precise, by timerfd, spinning for 150µs", fmt.Sprint(clock.Spinning(150*time.Microsecond)))
}

// child runs the test of that name again in a child process, where inChild is true. It
// returns the child's standard output. The child is killed when the test ends.
func child(t *testing.T, name string) (*exec.Cmd, *bufio.Reader) {
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), "EPICYCLE_TEST_CHILD=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil { // the test failed before cmd.Wait
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd, bufio.NewReader(out)
}

func inChild() bool { return os.Getenv("EPICYCLE_TEST_CHILD") != "" }

// Timers that become due while the process is stopped fire when it continues. Each fires
// once, in the order of their deadlines.
func TestStoppedProcess(t *testing.T) {
	if inChild() {
		fireInOrder(t)
		return
	}
	cmd, out := child(t, t.Name())
	for line := ""; line != "ready\n"; {
		var err error
		line, err = out.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Signal(unix.SIGSTOP))
	time.Sleep(1500 * time.Millisecond)
	require.NoError(t, cmd.Process.Signal(unix.SIGCONT))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), string(rest))
}

// fireInOrder sets timers for a second from now and later, writes "ready", and checks the
// order in which they fire. It knows each deadline only between two bounds, from before and
// after the timer was set, because the process may have been stopped in between.
func fireInOrder(t *testing.T) {
	const n = 10
	var from, to [n]time.Duration
	c, fired := clock.Precise(), make(chan int, 2*n)
	w := newWheel(t, c, hierarchy.Inline)
	for _, i := range []int{7, 2, 9, 0, 4, 1, 8, 3, 6, 5} {
		d := time.Second + time.Duration(i)*100*time.Millisecond
		from[i] = c.Elapsed() + d
		after(t, w, d, func() { fired <- i })
		to[i] = c.Elapsed() + d
	}
	fmt.Println("ready")
	seen := map[int]bool{}
	for latest := time.Duration(0); len(seen) < n; {
		i := <-fired
		require.False(t, seen[i], "fired twice")
		seen[i] = true
		require.LessOrEqual(t, latest, to[i], "fired after one that was due later")
		latest = max(latest, from[i])
	}
	require.Zero(t, w.Len())
	require.Empty(t, fired)
}

// Timers also fire if the process cannot open a descriptor.
func TestNoDescriptorsLeft(t *testing.T) {
	if !inChild() {
		cmd, out := child(t, t.Name())
		text, err := io.ReadAll(out)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), string(text))
		return
	}
	time.Sleep(time.Millisecond) // lets the runtime open its own descriptors
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	before := limit
	limit.Cur = 0
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	require.Equal(t, "precise, by runtime timers: timerfd_create: too many open files", fmt.Sprint(clock.Precise()))
	w := newWheel(t, nil, nil)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Add(1)
		after(t, w, time.Duration(i)*100*time.Microsecond, wg.Done)
	}
	wg.Wait()

	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before))
	after(t, w, time.Hour, func() {})
	require.Eventually(t, func() bool { // the queue tries to open a timerfd again after a second
		after(t, w, time.Millisecond, func() {})
		return len(timerfds.Open()) == 1
	}, time.Minute, time.Millisecond)
	require.Equal(t, "precise, by timerfd", fmt.Sprint(clock.Precise()))
}

// Other code closes the timerfd. The only timer of the process still fires, and so do
// timers that are set afterwards.
func TestDescriptorClosedByOthers(t *testing.T) {
	if !inChild() {
		cmd, out := child(t, t.Name())
		text, err := io.ReadAll(out)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), string(text))
		return
	}
	w, fired := newWheel(t, nil, nil), make(chan bool)
	for closed := 0; closed < 2; { // on a slow machine the timerfd may be gone already
		after(t, w, 150*time.Millisecond, func() { fired <- true })
		for _, fd := range timerfds.Open() {
			if err := unix.Close(fd); err != unix.EBADF {
				require.NoError(t, err)
				closed++
			}
		}
		<-fired
	}
	after(t, w, time.Hour, func() {})
	require.Eventually(t, func() bool {
		after(t, w, time.Millisecond, func() {})
		return len(timerfds.Open()) == 1
	}, time.Minute, time.Millisecond)
}
