package wakeup

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

const ms = time.Millisecond

// An alarm rings at its time, near or far, and at once if that has passed. A stopped one does not ring.
func TestAlarmsRing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		a, rings := alarm(w)
		for _, d := range []time.Duration{1, ms, near, near + 1, time.Hour, 100 * 365 * 24 * time.Hour} {
			at := sinceEpoch() + d
			a.Set(at)
			pass(d - 1)
			require.Empty(t, rings.taken())
			pass(1)
			require.Equal(t, []time.Duration{at}, rings.taken())
		}
		for _, at := range []time.Duration{-1, 0, sinceEpoch()} {
			a.Set(at)
			pass(0)
			require.Len(t, rings.taken(), 1)
		}
		for _, d := range []time.Duration{ms, time.Hour, math.MaxInt64} {
			a.Set(later(sinceEpoch(), d))
			a.Stop()
			pass(2 * time.Hour)
			require.Empty(t, rings.taken())
		}
	})
}

// The timerfd is aimed at the first of the alarms that are near, whatever is set and stopped. It is there while one is
// near, and not long after that.
func TestTimerfdIsAimedAtTheFirst(t *testing.T) {
	for range 20 {
		inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
			m := newModel(w)
			for range 1000 {
				m.step()
				m.check(t, fds)
			}
			for _, a := range m.alarms {
				a.Stop()
			}
		})
	}
}

// model knows what alarms should do.
type model struct {
	alarms []*Alarm
	due    []time.Duration // of each alarm; 0 if it is not set
	coarse []bool          // whether each alarm is coarse
	rings  []int           // of each alarm that should have come
	rang   []*times
	used   time.Duration // time until which an alarm was near
}

func newModel(w *Waker) *model {
	m := &model{alarms: make([]*Alarm, 5), due: make([]time.Duration, 5), coarse: make([]bool, 5), rings: make([]int, 5)}
	for i := range m.alarms {
		a, rings := alarm(w)
		m.alarms[i], m.rang = a, append(m.rang, rings)
	}
	return m
}

// step sets or stops an alarm, or lets time pass.
func (m *model) step() {
	i, spans := rand.IntN(len(m.alarms)), []time.Duration{ms, 10 * ms, handOver, near, time.Second}
	d := 1 + rand.N(spans[rand.IntN(len(spans))])
	switch rand.IntN(4) {
	case 0:
		m.alarms[i].Stop()
		m.due[i] = 0
	case 1:
		m.pass(d)
	default:
		m.set(i, d, rand.IntN(3) == 0)
	}
}

func (m *model) set(i int, d time.Duration, coarse bool) {
	m.due[i], m.coarse[i] = sinceEpoch()+d, coarse
	switch {
	case coarse:
		m.alarms[i].SetCoarse(m.due[i])
	default:
		m.alarms[i].Set(m.due[i])
		if d <= near {
			m.used = max(m.used, m.due[i])
		}
	}
}

func (m *model) pass(d time.Duration) {
	before := sinceEpoch()
	pass(d)
	now := sinceEpoch()
	for i, due := range m.due {
		if due == 0 {
			continue
		}
		if m.coarse[i] {
			if due <= now {
				m.rings[i]++
				m.due[i] = 0
			}
			continue
		}
		if due-handOver <= now && due-before > near { // it has become near
			m.used = max(m.used, due)
		}
		if due <= now {
			m.used = max(m.used, due)
			m.rings[i]++
			m.due[i] = 0
		} else if due-now <= handOver {
			m.used = max(m.used, due)
		}
	}
}

func (m *model) check(t *testing.T, fds *fakes) {
	for i, rings := range m.rang {
		require.Len(t, rings.taken(), m.rings[i])
		m.rings[i] = 0
	}
	fd := fds.now()
	now, first := sinceEpoch(), time.Duration(math.MaxInt64)
	for i, due := range m.due {
		if !m.coarse[i] && due > now && due-now <= handOver {
			first = min(first, due)
		}
	}
	if first != math.MaxInt64 {
		require.True(t, fd.isOpen())
		require.Equal(t, first+margin, fd.aimedAt)
	}
	if now > m.used+2*hold {
		require.False(t, fd.isOpen())
	}
	require.LessOrEqual(t, fd.opened-fd.closed, 1)
}

// Before a far alarm becomes near, its owner is asked whether it needs the ring. If it does not, no timerfd is opened.
func TestReviewOfAFarAlarm(t *testing.T) {
	answers := map[string]struct {
		answer func(a *Alarm)
		rings  []time.Duration
		opened int
	}{
		"needed":     {func(*Alarm) {}, []time.Duration{time.Second}, 1},
		"stopped":    {(*Alarm).Stop, nil, 0},
		"far again":  {func(a *Alarm) { a.Set(2 * time.Second) }, []time.Duration{2 * time.Second}, 1},
		"sooner":     {func(a *Alarm) { a.Set(950 * ms) }, []time.Duration{950 * ms}, 1},
		"takes long": {func(*Alarm) { time.Sleep(200 * ms) }, []time.Duration{1100 * ms}, 0},
	}
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
				a, rings := alarm(w)
				var reviews times
				asked := false
				a.Review(func() {
					reviews.add()
					if !asked {
						asked = true
						c.answer(a)
					}
				})
				a.Set(time.Second)
				pass(time.Second - handOver - 1)
				require.Empty(t, reviews.taken())
				pass(10 * time.Second)
				require.Equal(t, time.Second-handOver, reviews.taken()[0])
				require.Equal(t, c.rings, rings.taken())
				require.Equal(t, c.opened, fds.now().opened)
			})
		})
	}
}

// A near alarm is not reviewed.
func TestNoReviewOfANearAlarm(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, _ *fakes) {
		a, rings := alarm(w)
		a.Review(func() { t.Error("reviewed") })
		a.Set(near)
		pass(near)
		require.Len(t, rings.taken(), 1)
	})
}

// The timer fires for an earlier Set, just as the alarm is set anew or stopped: it rings at its new time only, and stays
// watched.
func TestFiringOfAnEarlierSet(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		a, rings := alarm(w)
		for _, d := range []time.Duration{ms, time.Second} {
			at := sinceEpoch() + d
			a.Set(at)
			a.fire()
			require.Empty(t, rings.taken())
			pass(d)
			require.Equal(t, []time.Duration{at}, rings.taken())
		}
		a.Set(sinceEpoch() + ms)
		a.Stop()
		a.fire()
		require.Empty(t, rings.taken())
		a.Set(sinceEpoch() + ms)
		a.fire()
		require.Equal(t, sinceEpoch()+ms+margin, fds.now().aimedAt)
		pass(ms)
	})
}

// Alarms ring although there is no timerfd. The waker tries again after a second, not at each alarm.
func TestNoTimerfd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		a, rings := alarm(w)
		fds.set(errFake, nil)
		ring := func() {
			a.Set(sinceEpoch() + ms)
			pass(ms)
			require.Len(t, rings.taken(), 1)
		}
		ring()
		require.Equal(t, "runtime timers: none to be had", w.String())
		fds.set(nil, nil)
		ring()
		require.Zero(t, fds.now().opened)
		pass(retryAfter)
		ring()
		require.Equal(t, 1, fds.now().opened)
		require.Equal(t, "timerfd", w.String())
	})
}

// A timerfd that is lost is noticed when it is aimed. Alarms ring all the same, and after a second there is another one.
func TestLostTimerfd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		a, rings := alarm(w)
		a.Set(ms)
		pass(ms)
		fds.set(nil, errFake)
		for range 2 {
			a.Set(sinceEpoch() + ms)
			pass(ms)
		}
		require.Len(t, rings.taken(), 3)
		require.Equal(t, 1, fds.now().opened)
		require.False(t, fds.now().isOpen())
		pass(retryAfter)
		a.Set(sinceEpoch() + ms)
		pass(ms)
		require.Len(t, rings.taken(), 1)
		require.Equal(t, 2, fds.now().opened)
	})
}

// String looks whether the timerfd is still there.
func TestStringOfALostTimerfd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		a, _ := alarm(w)
		a.Set(ms)
		require.Equal(t, "timerfd", w.String())
		fds.set(errFake, errFake)
		require.Equal(t, "runtime timers: none to be had", w.String())
		pass(ms)
	})
}

// A ring that takes long delays no other alarm, and does not keep the timerfd open.
func TestLongRing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		slow := w.NewAlarm(epoch, func() { time.Sleep(time.Hour) })
		slow.Set(ms)
		pass(ms)
		a, rings := alarm(w)
		a.Set(2 * ms)
		pass(ms)
		require.Equal(t, []time.Duration{2 * ms}, rings.taken())
		pass(2 * hold)
		require.False(t, fds.now().isOpen())
		pass(time.Hour)
	})
}

// Alarms of the process ring at or after their times, from many goroutines, with a real timerfd, which is gone after
// that.
func TestRealAlarms(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			rings := make(chan time.Duration, 1)
			a := Process.NewAlarm(epoch, func() {
				select {
				case rings <- sinceEpoch():
				default:
				}
			})
			for range 200 {
				at := sinceEpoch() + rand.N(2*ms)
				a.Set(at)
				if rand.IntN(4) == 0 {
					a.Stop()
					a.Set(at)
				}
				for rang := time.Duration(0); rang < at; { // a ring of the time before may come as well
					rang = <-rings
				}
			}
			a.Stop()
		})
	}
	wg.Wait()
	require.Eventually(t, func() bool { return len(timerfds.Open()) == 0 }, time.Minute, ms)
}

// The first alarm of a process that has slept for long opens one timerfd, and the next ones use it.
func TestAlarmsShareATimerfd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *Waker, fds *fakes) {
		a, rings := alarm(w)
		for range 100 {
			a.Set(sinceEpoch() + hold)
			pass(hold)
		}
		require.Len(t, rings.taken(), 100)
		require.Equal(t, 1, fds.now().opened)
	})
}
