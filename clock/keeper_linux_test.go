package clock

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counted is a keeper of its own, and how often it has opened a timerfd.
func counted() (k *keeper, opened *atomic.Int32) {
	opened = new(atomic.Int32)
	k = &keeper{linger: lingers, open: func() (*timerfd, error) {
		opened.Add(1)
		return openTimerfd()
	}}
	return k, opened
}

// patient is a counted keeper whose reader does not go as long as there are alarms,
// however slow the machine is.
func patient() (k *keeper, opened *atomic.Int32) {
	k, opened = counted()
	k.linger = time.Hour
	return k, opened
}

// on makes an alarm of k that sends the time of each ring.
func on(k *keeper) (a *preciseAlarm, rings chan time.Duration) {
	rings = make(chan time.Duration)
	a = &preciseAlarm{keeper: k}
	a.ringer.ring = func() { rings <- sinceEpoch() }
	return a, rings
}

// soon is a time that is no more than a millisecond away.
func soon() time.Duration { return sinceEpoch() + rand.N(time.Millisecond) }

// Timerfds is how many timerfds the process has. The tests outside the package
// use it too.
func Timerfds(t *testing.T) (n int) {
	all, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && strings.Contains(to, "timerfd") {
			n++
		}
	}
	return n
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
	require.Eventually(t, func() bool { return Timerfds(t) == 0 && readers() == 0 },
		10*time.Second, time.Millisecond)
}

func TestRingsAreNeverEarly(t *testing.T) {
	k, _ := counted()
	a, rings := on(k)
	for range 300 {
		aim := soon()
		a.Set(aim)
		require.GreaterOrEqual(t, <-rings, aim)
	}
	a.Stop()
	requireGone(t)
}

// The reader stays between lone alarms, and neither it nor its descriptor is left
// when the last is stopped.
func TestLoneAlarmsShareAReader(t *testing.T) {
	k, opened := patient()
	a, rings := on(k)
	for range 300 {
		a.Set(soon())
		<-rings
	}
	a.Set(sinceEpoch() + time.Hour)
	require.EqualValues(t, 1, opened.Load())
	require.Equal(t, 1, Timerfds(t))
	a.Stop()
	requireGone(t)

	a.Set(sinceEpoch() + time.Hour) // and it comes back
	require.EqualValues(t, 2, opened.Load())
	a.Stop()
	requireGone(t)
}

// An alarm that has rung and was not stopped holds the reader for a while only.
func TestReaderEndsByItself(t *testing.T) {
	k, opened := counted()
	a, rings := on(k)
	for tries := 0; opened.Load() < 2; tries++ { // what is due before Set looks needs no reader
		require.Less(t, tries, 100)
		a.Set(soon())
		<-rings
		requireGone(t)
	}
}

// The alarm is stopped by its own ring.
func TestStopInsideRing(t *testing.T) {
	k, _ := counted()
	for range 100 {
		rang := make(chan bool)
		a := &preciseAlarm{keeper: k}
		a.ringer.ring = func() { a.Stop(); close(rang) }
		a.Set(soon())
		<-rang
	}
	requireGone(t)
}

// While a ring takes its time, in the reader or not, others ring.
func TestRingsDoNotWaitForEachOther(t *testing.T) {
	k, opened := patient()
	var ends []func()
	for range 20 {
		a, rings := on(k) // its ring stays until it is received below
		a.Set(soon())
		ends = append(ends, func() { <-rings; a.Stop() })
		b, rang := on(k)
		for range 3 {
			b.Set(soon())
			<-rang
		}
	}
	require.EqualValues(t, 1, opened.Load())
	for _, end := range ends {
		end()
	}
	requireGone(t)
}

// A ring that ends its goroutine takes neither the reader nor other alarms with
// it.
func TestRingThatEndsItsGoroutine(t *testing.T) {
	k, opened := patient()
	rang := make(chan bool)
	a := &preciseAlarm{keeper: k}
	a.ringer.ring = func() {
		defer func() { rang <- true }()
		runtime.Goexit()
	}
	b, rings := on(k)
	for range 100 {
		a.Set(soon())
		<-rang
		a.Set(soon())
		b.Set(soon())
		<-rang
		<-rings
	}
	require.EqualValues(t, 1, opened.Load())
	b.Stop()
	a.Stop()
	requireGone(t)
}

// Whatever is done to alarms at once, each rings after its last aim.
func TestManyAlarmsAtOnce(t *testing.T) {
	k, _ := counted()
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			var aimed atomic.Int64
			rang := make(chan bool, 1)
			a := &preciseAlarm{keeper: k}
			a.ringer.ring = func() {
				if int64(sinceEpoch()) < aimed.Load() {
					return // of an earlier aim
				}
				select {
				case rang <- true:
				default:
				}
			}
			for range 50 {
				for range rand.N(4) {
					a.Set(soon() + rand.N(time.Minute))
				}
				if rand.N(2) == 0 {
					a.Stop()
				}
				at := soon()
				aimed.Store(int64(at))
				a.Set(at)
				<-rang
				aimed.Store(int64(never))
			}
			a.Stop()
		})
	}
	wg.Wait()
	requireGone(t)
}

// Without a timerfd alarms ring all the same, and when there is one again it is
// used.
func TestNoTimerfd(t *testing.T) {
	broken := errors.New("none to be had")
	k, opened := counted()
	open := k.open
	k.open = func() (*timerfd, error) { opened.Add(1); return nil, broken }
	require.Equal(t, "runtime timers: none to be had", k.String())
	a, rings := on(k)
	for range 20 {
		aim := soon()
		a.Set(aim)
		require.GreaterOrEqual(t, <-rings, aim)
	}
	require.LessOrEqual(t, opened.Load(), int32(2), "it is asked for at every alarm")
	require.Equal(t, "runtime timers: none to be had", k.String())

	k.open, k.retry = open, 0
	a.Set(soon())
	<-rings
	require.Equal(t, "timerfd", k.String())
	require.Equal(t, 1, Timerfds(t))
	a.Stop()
	requireGone(t)
}

func TestFarAlarms(t *testing.T) {
	k, _ := counted()
	a, rings := on(k)
	for _, at := range []time.Duration{never, never - 1, 100 * 365 * 24 * time.Hour, time.Hour} {
		a.Set(at)
	}
	b, _ := on(k)
	b.Set(never)
	a.Set(soon())
	<-rings
	a.Stop()
	b.Stop()
	requireGone(t)

	c := &preciseClock{system: system{time.Now()}, keeper: k}
	far := c.NewAlarm(func() {}).(*preciseAlarm)
	far.Set(never)
	require.Equal(t, never, far.at, "it saturates")
	far.Stop()
	requireGone(t)
}

// While the process is strained the runtime's timer rings too.
func TestStrain(t *testing.T) {
	k, _ := counted()
	a, rings := on(k)
	k.mu.Lock()
	k.learn(strainedBy)
	require.True(t, k.strain.lasts())
	require.Zero(t, k.ahead())
	k.mu.Unlock()
	aim := soon()
	a.Set(aim)
	require.GreaterOrEqual(t, <-rings, aim)

	k.mu.Lock()
	defer k.mu.Unlock()
	require.NotNil(t, k.backup.timer)
	k.strain.renew()
	for range strainFor {
		require.True(t, k.strain.lasts())
		k.learn(strainedBy - 1)
	}
	require.False(t, k.strain.lasts())
	require.NotZero(t, k.ahead())
}

// Of wake-ups as long as they may be, one in four is shorter than the lead, and
// a lead once too long or too short is mended soon.
func TestLead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typical := range []time.Duration{5, 20, 50} {
		typical *= time.Microsecond
		var l lead
		shorter := 0
		for i := range 10_000 {
			took := typical/2 + time.Duration(r.Int64N(int64(typical)))
			if i >= 200 && took < l.d {
				shorter++
			}
			l.learn(took)
		}
		require.InDelta(t, 10_000/leadShare, shorter, 300)
	}
	var l lead
	for range 1000 {
		l.learn(time.Second)
	}
	require.Equal(t, longestLead, l.d)
	for range 100 {
		l.learn(0)
	}
	require.Zero(t, l.d)
}

// Whatever was aimed at before, a reader that nobody needs any longer goes soon.
func TestReaderDoesNotStayForAnAlarmThatIsNoMore(t *testing.T) {
	k, _ := counted()
	far, _ := on(k)
	near, rings := on(k)

	far.Set(sinceEpoch() + time.Hour)
	near.Set(0) // rings until it is received below
	far.Stop()
	<-rings
	requireGone(t)
}

func TestReaderDoesNotStayForAnAimThatWasMoved(t *testing.T) {
	k, _ := counted()
	a, rings := on(k)
	a.Set(sinceEpoch() + time.Hour)
	a.Set(0)
	<-rings
	requireGone(t)
}

// Its time to go passes before it has begun to wait for it.
func TestReaderIsLateForItsOwnEnd(t *testing.T) {
	k, _ := counted()
	k.mu.Lock()
	fd, err := k.open()
	require.NoError(t, err)
	r := &reader{keeper: k, fd: fd}
	k.reader, k.aim = r, never
	k.aimAt(sinceEpoch() - 1) // as rung does, and then the process is stopped for linger
	k.mu.Unlock()
	time.Sleep(10 * time.Millisecond) // the poller takes note of it
	go r.read()
	requireGone(t)
}

// An alarm nearer than the lead is aimed at for now: an aim in the past would
// make the wake-up seem to take longer than it does, and the lead grow.
func TestNearAlarmsDoNotLengthenTheLead(t *testing.T) {
	k, _ := counted()
	a, rings := on(k)
	k.lead.d = longestLead
	before := sinceEpoch()
	a.Set(before + longestLead/2)
	k.mu.Lock()
	reader, aim := k.reader, k.aim
	k.mu.Unlock()
	if reader != nil && aim != never {
		require.GreaterOrEqual(t, aim, before)
	}
	<-rings
	a.Stop()
	requireGone(t)
}
