package wakeup

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

func TestRingsAreNeverEarly(t *testing.T) {
	q, _ := counted(t)
	a, rings := reportingAlarm(t, q)
	for range 300 {
		aim := soon()
		a.Set(aim)
		require.GreaterOrEqual(t, received(t, rings), aim)
	}
	a.Stop()
	requireGone(t)
}

// An alarm is stopped inside its own ring.
func TestStopInsideRing(t *testing.T) {
	q, _ := counted(t)
	for range 100 {
		rang := make(chan bool)
		var a *Alarm
		a = alarm(t, q, func() { a.Stop(); close(rang) })
		a.Set(soon())
		received(t, rang)
	}
	requireGone(t)
}

// A long ring delays no other alarm, whether the waiter or another goroutine runs it.
func TestRingsDoNotWaitForEachOther(t *testing.T) {
	q, opened := patient(t)
	var held []chan time.Duration
	var alarms []*Alarm
	for range 20 {
		a, rings := reportingAlarm(t, q) // its ring stays until it is received below
		a.Set(soon())
		b, rang := reportingAlarm(t, q)
		for range 3 {
			b.Set(soon())
			received(t, rang)
		}
		held, alarms = append(held, rings), append(alarms, a, b)
	}
	for _, rings := range held {
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	for _, a := range alarms {
		a.Stop()
	}
	requireGone(t)
}

// A ring that ends its goroutine stops no other alarm, and the queue still has a waiter.
func TestRingThatEndsItsGoroutine(t *testing.T) {
	q, opened := patient(t)
	rang := make(chan bool)
	a := alarm(t, q, func() {
		defer func() {
			select {
			case rang <- true:
			case <-t.Context().Done():
			}
		}()
		runtime.Goexit()
	})
	b, rings := reportingAlarm(t, q)
	for range 100 {
		a.Set(soon())
		received(t, rang)
		a.Set(soon())
		b.Set(soon())
		received(t, rang)
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	b.Stop()
	a.Stop()
	requireGone(t)
}

// When many alarms are set and stopped concurrently, each rings after its last aim.
func TestManyAlarmsAtOnce(t *testing.T) {
	q, _ := counted(t)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() { aimOften(t, q) })
	}
	wg.Wait()
	requireGone(t)
}

// aimOften sets and stops an alarm repeatedly, and waits for some of its rings.
func aimOften(t *testing.T, q *Queue) {
	var aimed atomic.Int64
	rang := make(chan bool, 1)
	a := alarm(t, q, func() {
		if int64(sinceEpoch()) < aimed.Load() {
			return // the ring is of an earlier aim
		}
		select {
		case rang <- true:
		default:
		}
	})
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
		locked(q, func() { assert.NoError(t, q.checkBackup()) })
		select {
		case <-rang:
		case <-time.After(atMost):
			t.Error("the alarm does not ring")
			return
		}
		aimed.Store(int64(unaimed))
		locked(q, func() { assert.NoError(t, q.checkBackup()) })
	}
	a.Stop()
}

// Alarms also ring if no timerfd can be opened. The queue tries to open one again only
// after retryAfter, and uses it if it succeeds.
func TestNoTimerfd(t *testing.T) {
	q, opened := patient(t)
	open := q.open
	q.open = func() (*timerfd, error) { opened.Add(1); return nil, errors.New("none to be had") }
	require.Equal(t, "runtime timers: none to be had", q.String())
	a, rings := reportingAlarm(t, q)
	before := sinceEpoch()
	a.Set(before + time.Hour)
	q.mu.Lock()
	retry := q.retry
	q.retry = unaimed // never, however slow the machine is
	q.mu.Unlock()
	require.GreaterOrEqual(t, retry, before+retryAfter)
	for range 20 {
		aim := soon()
		a.Set(aim)
		require.GreaterOrEqual(t, received(t, rings), aim)
	}
	require.EqualValues(t, 2, opened.Load())
	require.Equal(t, "runtime timers: none to be had", q.String())

	q.mu.Lock()
	q.open, q.retry = open, 0
	q.mu.Unlock()
	a.Set(sinceEpoch() + time.Hour)
	require.Equal(t, "timerfd", q.String())
	require.Len(t, timerfds.Open(), 1)
	a.Stop()
	requireGone(t)
}

func TestFarAlarms(t *testing.T) {
	q, _ := counted(t)
	a, rings := reportingAlarm(t, q)
	for _, at := range []time.Duration{unaimed, unaimed - 1, 100 * 365 * 24 * time.Hour, time.Hour} {
		a.Set(at)
	}
	b, _ := reportingAlarm(t, q)
	b.Set(unaimed)
	a.Set(soon())
	received(t, rings)
	a.Stop()
	b.Stop()
	requireGone(t)

	far := q.NewAlarm(time.Now(), func() {})
	t.Cleanup(far.Stop)
	far.Set(unaimed)
	require.Equal(t, unaimed, far.at, "it saturates")
	far.Stop()
	requireGone(t)
}
