package clock_test

import (
	"context"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// A benbjohnson timer or ticker has sent on its channel when a later wheel timer fires,
// and has not sent when an earlier one fires.
func TestMockCompanionsInterleaveWithWheels(t *testing.T) {
	kinds := map[string]func(c benbjohnson.Clock) <-chan time.Time{
		"Timer":  func(c benbjohnson.Clock) <-chan time.Time { return c.Timer(time.Minute).C },
		"After":  func(c benbjohnson.Clock) <-chan time.Time { return c.After(time.Minute) },
		"Ticker": func(c benbjohnson.Clock) <-chan time.Time { return c.Ticker(time.Minute).C },
		"Tick":   func(c benbjohnson.Clock) <-chan time.Time { return c.Tick(time.Minute) },
	}
	for name, start := range kinds {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			tr := trace{}
			m.Add(time.Hour) // before the benbjohnson mock is active
			w := newWheel(t, m, nil)
			c := start(m.Benbjohnson())
			after(t, w, time.Minute-1, func() { require.Empty(t, c); tr.note("before")() })
			after(t, w, time.Minute+1, func() { require.Len(t, c, 1); tr.note("after")() })
			m.Add(time.Minute - 2)
			require.Empty(t, c)
			m.Add(3)
			require.Equal(t, []string{"before", "after"}, tr.take())
			require.Equal(t, time.Unix(3660, 0).UTC(), <-c)
		})
	}
}

// The clock that follows a Mock has its time, jumps included, and can't be told from another one of that Mock.
func TestFollowerHasTheTimeOfItsMock(t *testing.T) {
	m := clock.NewMock()
	c := m.Benbjohnson()
	require.Equal(t, m.Benbjohnson(), c)
	require.NotEqual(t, clock.NewMock().Benbjohnson(), c)
	at := m.Now()
	for _, move := range []func(){
		func() { m.Add(time.Hour) }, func() { m.Jump(-3 * time.Hour) }, func() { c.Timer(time.Second) },
		func() { m.Add(time.Minute) }, func() { m.Jump(24 * time.Hour) }, func() { m.Set(m.Now().Add(time.Hour)) },
	} {
		move()
		require.Equal(t, m.Now(), c.Now())
		require.Equal(t, m.Since(at), c.Since(at))
		require.Equal(t, m.Until(at), c.Until(at))
		require.Equal(t, -c.Since(at), c.Until(at))
	}
	require.Equal(t, at.Add(-3*time.Hour+time.Hour+time.Minute+24*time.Hour+time.Hour), c.Now())
}

// A deadline is a wall time. That of a context goes on being what was asked for after a jump.
func TestDeadlineOfAFollowerAfterAJump(t *testing.T) {
	m := clock.NewMock()
	m.Jump(time.Hour)
	c := m.Benbjohnson()
	until := m.Now().Add(time.Minute)
	ctx, cancel := c.WithDeadline(context.Background(), until)
	defer cancel()
	deadline, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, until, deadline)
	m.Add(time.Minute - 1)
	require.NoError(t, ctx.Err())
	m.Add(1)
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
}

func TestMockContextsInterleaveWithWheels(t *testing.T) {
	m := clock.NewMock()
	m.Add(time.Hour)
	w := newWheel(t, m, nil)
	c := m.Benbjohnson()
	checked := 0
	short, cancel := c.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	long, cancel := c.WithDeadline(context.Background(), m.Now().Add(2*time.Minute))
	defer cancel()
	after(t, w, time.Minute-1, func() { checked++; require.NoError(t, short.Err()) })
	after(t, w, 2*time.Minute-1, func() { checked++; require.NoError(t, long.Err()) })
	m.Add(time.Minute)
	<-short.Done()
	require.ErrorIs(t, short.Err(), context.DeadlineExceeded)
	m.Add(time.Minute)
	<-long.Done()
	require.ErrorIs(t, long.Err(), context.DeadlineExceeded)
	require.Equal(t, 2, checked)
}

func TestMockAfterFuncAndSleep(t *testing.T) {
	m := clock.NewMock()
	c := m.Benbjohnson()
	begun, fired, slept := m.Elapsed(), make(chan time.Duration, 1), make(chan time.Duration, 1)
	c.AfterFunc(time.Minute, func() { fired <- m.Elapsed() })
	timer := c.AfterFunc(time.Second, func() { t.Error("was stopped") })
	require.True(t, timer.Stop())
	m.Add(time.Minute - 1)
	require.Empty(t, fired)
	m.Add(1)
	require.Equal(t, begun+time.Minute, <-fired)

	go func() {
		c.Sleep(time.Minute)
		slept <- m.Elapsed()
	}()
	for len(slept) == 0 { // the goroutine may not sleep yet
		m.Add(time.Minute)
	}
	require.GreaterOrEqual(t, <-slept, begun+2*time.Minute)
}

// A benbjohnson timer made inside a wheel callback counts from the callback's deadline.
func TestMockCompanionMadeInsideCallback(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, m, nil)
	var c <-chan time.Time
	after(t, w, time.Minute, func() { c = m.Benbjohnson().After(time.Second) })
	after(t, w, time.Minute+time.Second-1, func() { require.Empty(t, c) })
	after(t, w, time.Minute+time.Second+1, func() { require.Len(t, c, 1) })
	m.Add(time.Hour)
	require.Equal(t, time.Unix(61, 0).UTC(), <-c)
	require.Zero(t, w.Len())
}

// The callback of a benbjohnson timer sets a wheel timer during an Add. The wheel timer
// counts from the callback's time, is not early, and fires in the same Add. The mock does
// not wait for callbacks of benbjohnson timers, so another wheel timer holds the clock
// until the first is set.
func TestMockCompanionSetsWheelTimers(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, m, nil)
	set, fired := make(chan time.Duration, 1), make(chan time.Duration, 1)
	m.Benbjohnson().AfterFunc(time.Minute, func() {
		set <- m.Elapsed()
		after(t, w, time.Minute, func() { fired <- m.Elapsed() })
	})
	after(t, w, time.Minute+1, func() { require.NoError(t, m.WaitFor(context.Background(), 1)) })
	m.Add(time.Hour)
	require.GreaterOrEqual(t, <-set, time.Minute)
	require.GreaterOrEqual(t, <-fired, 2*time.Minute)
	require.Equal(t, time.Hour, m.Elapsed())
}

// As above, but a goroutine that reads a ticker sets the wheel timers, and no other wheel
// timer stops the benbjohnson mock on its way.
func TestMockTickerGoroutineSetsWheelTimers(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, m, nil)
	ticker, fired := m.Benbjohnson().Ticker(time.Minute), make(chan time.Duration, 3)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			<-ticker.C
			after(t, w, time.Second, func() { fired <- m.Elapsed() })
		}
		ticker.Stop()
	}()
	for reading := true; reading; { // the goroutine may miss many ticks
		select {
		case <-done:
			reading = false
		default:
			m.Add(time.Hour)
		}
	}
	m.Add(time.Minute)
	require.Len(t, fired, 3)
	for n := time.Duration(1); n <= 3; n++ {
		require.GreaterOrEqual(t, <-fired, n*time.Minute+time.Second)
	}
}

func TestMockWaitForAllTimers(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	w := newWheel(t, m, nil)
	after(t, w, time.Minute, func() {
		tr.note(m.Elapsed().String())()
		after(t, w, time.Hour, func() { tr.note(m.Elapsed().String())() })
	})
	c := m.Benbjohnson().After(24 * time.Hour)
	require.Equal(t, time.Unix(24*3600, 0).UTC(), m.WaitForAllTimers())
	require.Len(t, c, 1)
	require.Equal(t, []string{"1m0s", "1h1m0s"}, tr.take())
	require.Equal(t, 24*time.Hour, m.Elapsed())
	require.Equal(t, m.Now(), m.WaitForAllTimers())
}
