package compat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

// history is what happens to a timer, in ticks. At tick begin it is set to fire after set
// ticks. When elapsed ticks have passed, it is moved to fire after move ticks; if again is
// true, by setting it again.
type history struct {
	begin, set, elapsed, move int
	again                     bool
}

func (h history) moved() int { return h.begin + h.elapsed }
func (h history) due() int   { return h.moved() + h.move }

// do sets or moves the timer if h says so for that tick.
func (h history) do(t *testing.T, w *compat.TimingWheel, tick int) {
	if tick == h.begin {
		require.NoError(t, w.SetTimer(h, 1, time.Duration(h.set)*interval))
	}
	if tick == h.moved() && h.again {
		require.NoError(t, w.SetTimer(h, 2, time.Duration(h.move)*interval))
	} else if tick == h.moved() {
		require.NoError(t, w.MoveTimer(h, time.Duration(h.move)*interval))
	}
}

// histories returns all histories with delays of up to three turns of a ring.
func histories(slots int) (all []history) {
	for set := 1; set <= 3*slots; set++ {
		for elapsed := range set {
			for move := 1; move <= 3*slots; move++ {
				all = append(all, history{0, set, elapsed, move, false}, history{0, set, elapsed, move, true})
			}
		}
	}
	return all
}

// requireExact runs all the histories on one wheel, and checks at which tick each task
// runs.
func requireExact(t *testing.T, slots int, all []history) {
	h, now := newFakeTicker(), 0
	var runs [][2]any // history, and tick
	mu := make(chan struct{}, 1)
	w := newTicking(t, slots, func(key, _ any) {
		mu <- struct{}{}
		runs = append(runs, [2]any{key, now})
		<-mu
	}, h)
	defer w.Stop()
	byTick := make(map[int][]history)
	due := make(map[int]int)
	last := 0
	for _, one := range all {
		byTick[one.begin] = append(byTick[one.begin], one)
		if one.elapsed > 0 {
			byTick[one.moved()] = append(byTick[one.moved()], one)
		}
		due[one.due()]++
		last = max(last, one.due())
	}
	for now = 0; now <= last+3*slots; now++ { // goes on, to see that nothing runs twice
		if now > 0 {
			h.tick()
			settle()
		}
		for _, run := range runs {
			if run[0].(history).due() != now {
				t.Fatalf("%d slots: %+v ran at tick %v", slots, run[0], run[1])
			}
		}
		if len(runs) != due[now] {
			t.Fatalf("%d slots: %d of %d ran at tick %d", slots, len(runs), due[now], now)
		}
		runs = nil
		for _, one := range byTick[now] {
			one.do(t, w, now)
		}
	}
}

// Each history has a wheel of its own, so the alarm is aimed at its timer alone.
func TestEachHistoryAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, one := range histories(3) {
			requireExact(t, 3, []history{one})
		}
	})
}

func TestAllHistoriesTogether(t *testing.T) {
	for _, slots := range []int{3, 10} {
		synctest.Test(t, func(t *testing.T) { requireExact(t, slots, histories(slots)) })
	}
}

func TestRandomHistories(t *testing.T) {
	const slots = 300
	r := rand.New(rand.NewPCG(1, 2))
	unique := make(map[history]bool)
	for len(unique) < 10_000 {
		set := 1 + r.IntN(3*slots)
		unique[history{r.IntN(slots), set, r.IntN(set), 1 + r.IntN(3*slots), r.IntN(2) == 0}] = true
	}
	all := make([]history, 0, len(unique))
	for one := range unique {
		all = append(all, one)
	}
	synctest.Test(t, func(t *testing.T) { requireExact(t, slots, all) })
}

// reference is the simplest correct wheel with a ticker.
type reference struct {
	now    int
	timers map[int]pending
	ran    []string
}

type pending struct {
	value int
	due   time.Duration
}

func (r *reference) after(d time.Duration) time.Duration { return time.Duration(r.now)*interval + d }

func (r *reference) run(key int) {
	r.ran = append(r.ran, fmt.Sprintf("%d=%d@%d", key, r.timers[key].value, r.now))
	delete(r.timers, key)
}

func (r *reference) set(key, value int, d time.Duration) {
	r.timers[key] = pending{value, r.after(d)}
}

func (r *reference) move(key int, d time.Duration) {
	timer, ok := r.timers[key]
	switch {
	case ok && d < interval:
		r.run(key)
	case ok:
		r.timers[key] = pending{timer.value, r.after(d)}
	}
}

func (r *reference) tick() {
	r.now++
	for key, timer := range r.timers {
		if timer.due <= r.after(0) {
			r.run(key)
		}
	}
}

func (r *reference) drain() {
	for key := range r.timers {
		r.run(key)
	}
}

func (r *reference) take() []string {
	ran := r.ran
	r.ran = nil
	slices.Sort(ran)
	return ran
}

// runRandomly makes the same random calls to a wheel and to the reference. If careful is
// true, it compares them after each call, when all goroutines are blocked; otherwise only
// at the end.
func runRandomly(t *testing.T, seed uint64, careful bool) {
	c := rand.New(rand.NewPCG(seed, 7))
	ref := &reference{timers: make(map[int]pending)}
	h, tasks := newFakeTicker(), new(taskLog)
	w := newTicking(t, 1+c.IntN(20), tasks.note, h)
	defer w.Stop()
	tasks.at(0)
	for n := range 300 {
		key, d := c.IntN(15), time.Duration(1+c.Int64N(int64(interval<<c.IntN(7))))
		if c.IntN(2) == 0 {
			d = d.Truncate(interval) + interval
		}
		switch op := c.IntN(20); {
		case op < 6:
			ref.set(key, n, d)
			require.NoError(t, w.SetTimer(key, n, d))
		case op < 10:
			ref.move(key, d)
			require.NoError(t, w.MoveTimer(key, d))
		case op < 12:
			delete(ref.timers, key)
			require.NoError(t, w.RemoveTimer(key))
		case op == 12 && c.IntN(8) == 0:
			ref.drain()
			require.NoError(t, w.Drain(tasks.note))
		default:
			settle() // so that tasks note the tick at which they ran
			tasks.at(ref.now + 1)
			ref.tick()
			h.tick()
		}
		if careful {
			settle()
			require.Equal(t, ref.take(), tasks.take(), "seed %d, step %d", seed, n)
		}
	}
	settle()
	require.Equal(t, ref.take(), tasks.take(), "seed %d", seed)
}

func TestTickerAgainstReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(60) {
			runRandomly(t, seed, true)
			runRandomly(t, seed, false)
		}
	})
}

func TestDelaysBetweenTicks(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		ticks int
	}{
		{1, 1}, {interval / 2, 1}, {interval - 1, 1}, {interval, 1},
		{interval + 1, 2}, {2*interval - 1, 2}, {2 * interval, 2}, {2*interval + 1, 3},
		{10 * interval, 10}, {11*interval - 1, 11},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, tasks := newFakeTicker(), new(taskLog)
			w := newTicking(t, 10, tasks.note, h)
			require.NoError(t, w.SetTimer("set", nil, c.delay))
			require.NoError(t, w.SetTimer("moved", nil, time.Hour))
			want := []string{fmt.Sprintf("set=<nil>@%d", c.ticks)}
			if c.delay >= interval {
				require.NoError(t, w.MoveTimer("moved", c.delay))
				want = []string{fmt.Sprintf("moved=<nil>@%d", c.ticks), want[0]}
			}
			for now := range 20 {
				tasks.at(now + 1)
				h.tick()
				settle()
			}
			require.Equal(t, want, tasks.take(), "%v", c.delay)
		})
	}
}

// The wheel's time moves with the ticks, not with the wall clock.
func TestNothingHappensBetweenTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, tasks := newFakeTicker(), new(taskLog)
		w := newTicking(t, 10, tasks.note, h)
		require.NoError(t, w.SetTimer("a", 1, 2*interval))
		time.Sleep(time.Hour) // in the bubble's time
		h.tick()
		time.Sleep(time.Hour)
		require.Empty(t, tasks.take())
		tasks.at("the second")
		h.tick()
		settle()
		require.Equal(t, []string{"a=1@the second"}, tasks.take())
	})
}

func TestMoveBelowTheIntervalRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, tasks := newFakeTicker(), new(taskLog)
		w := newTicking(t, 3, tasks.note, h)
		for now, d := range []time.Duration{1, interval / 2, interval - 1} {
			tasks.at(now)
			require.NoError(t, w.SetTimer("a", d, 4*interval))
			require.NoError(t, w.MoveTimer("a", d))
			settle()
			require.Equal(t, []string{fmt.Sprintf("a=%v@%d", d, now)}, tasks.take())
			h.tick()
		}
		for range 10 { // the task does not run again
			h.tick()
		}
		settle()
		require.Empty(t, tasks.take())
		require.NoError(t, w.MoveTimer("a", 1), "it has no timer")
		settle()
		require.Empty(t, tasks.take())
	})
}

// Once the call that runs the task at once has returned, no later call can stop the task,
// delay it or change its value.
func TestMoveBelowTheIntervalIsFinal(t *testing.T) {
	for name, then := range map[string]func(w *compat.TimingWheel) error{
		"remove": func(w *compat.TimingWheel) error { return w.RemoveTimer("a") },
		"move":   func(w *compat.TimingWheel) error { return w.MoveTimer("a", time.Hour) },
		"set": func(w *compat.TimingWheel) error {
			defer func() { _ = w.RemoveTimer("a") }()
			return w.SetTimer("a", 2, time.Hour)
		},
		"drain": func(w *compat.TimingWheel) error { return w.Drain(func(any, any) { panic("the timer was drained") }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, tasks := newFakeTicker(), new(taskLog)
				w := newTicking(t, 3, tasks.note, h)
				for range 500 { // the wheel may still be busy with the last call
					require.NoError(t, w.SetTimer("a", 1, time.Hour))
					require.NoError(t, w.MoveTimer("a", interval/2))
					require.NoError(t, then(w))
				}
				settle()
				require.Equal(t, slices.Repeat([]string{"a=1@"}, 500), tasks.take())
			})
		})
	}
}

// A tick that was sent is counted before the next call of its sender, also if the channel
// has a buffer, as those of package time and of go-zero's fake ticker have.
func TestATickSentIsCounted(t *testing.T) {
	for buffer := range 3 {
		synctest.Test(t, func(t *testing.T) {
			h, tasks := newBufferedTicker(buffer), new(taskLog)
			w := newTicking(t, 3, tasks.note, h)
			for i := range 500 {
				require.NoError(t, w.RemoveTimer("none")) // the wheel may still be busy with this call
				h.tick()
				require.NoError(t, w.SetTimer("a", i, interval))
				settle()
				require.Empty(t, tasks.take(), "it ran at a tick from before it was set")
				h.tick()
				require.NoError(t, w.SetTimer("a", "next", interval)) // does not replace the due timer
				require.NoError(t, w.RemoveTimer("a"))
				settle()
				require.Equal(t, []string{fmt.Sprintf("a=%d@", i)}, tasks.take())
			}
		})
	}
}

// Ticks and calls from several goroutines: no timer is lost, and none runs early.
func TestTicksBesideCalls(t *testing.T) {
	const callers, each = 4, 500
	var begun, sent, tasks, early atomic.Int64
	h := newFakeTicker()
	w := newTicking(t, 10, func(_, value any) {
		if begun.Load() < value.(int64) {
			early.Add(1)
		}
		tasks.Add(1)
	}, h)
	finished := make(chan bool)
	for g := range callers {
		go func() {
			defer func() { finished <- true }()
			for i := range each {
				k := int64(1 + i%7)
				key, due, d := [2]int{g, i}, sent.Load()+k, time.Duration(k)*interval
				if w.SetTimer(key, due, d) != nil || i%3 == 0 && w.MoveTimer(key, d) != nil {
					t.Error("refused")
				}
			}
		}()
	}
	for left := callers; left > 0 || tasks.Load() < callers*each; {
		select {
		case <-finished:
			left--
		default:
			begun.Add(1)
			h.tick()
			sent.Add(1)
		}
	}
	require.Zero(t, early.Load())
	require.EqualValues(t, callers*each, tasks.Load())
}

// closer is a ticker whose Stop closes its channel, as go-zero's does.
type closer struct{ c chan time.Time }

func (c closer) Chan() <-chan time.Time { return c.c }
func (c closer) Stop()                  { close(c.c) }

func TestTicksEnd(t *testing.T) {
	l := logged(t)
	for range 300 { // the wheel may be busy with the call, or not yet
		c := closer{make(chan time.Time, 1)}
		w := newTicking(t, 3, func(any, any) { t.Error("a task runs") }, c)
		require.NoError(t, w.SetTimer("a", 1, interval))
		c.Stop()
		require.Equal(t, compat.ErrClosed, w.SetTimer("a", 1, interval))
		requireClosed(t, w)
		w.Stop()
	}
	require.Empty(t, l.take(t))
}

// A tick that was sent before the channel was closed is counted.
func TestLastTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tasks := closer{make(chan time.Time, 1)}, new(taskLog)
		w := newTicking(t, 3, tasks.note, c)
		require.NoError(t, w.SetTimer("a", 1, interval))
		c.c <- time.Now()
		settle()
		c.Stop()
		settle()
		requireClosed(t, w)
		require.Equal(t, []string{"a=1@"}, tasks.take())
	})
}

func TestStopStopsTheTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeTicker()
		w := newTicking(t, 3, func(any, any) {}, h)
		for range 3 {
			w.Stop()
			requireClosed(t, w)
			settle()
			require.EqualValues(t, 1, h.stops.Load())
		}

		h = newFakeTicker()
		w = newTicking(t, 3, func(any, any) {}, h)
		close(h.c)
		settle()
		w.Stop()
		settle()
		require.Zero(t, h.stops.Load(), "a ticker whose channel is closed is not stopped")
	})
}

// late is a ticker whose second call of Chan blocks until give is closed. The first is
// made by the constructor of the wheel, the second by the goroutine that counts ticks.
type late struct {
	*fakeTicker
	asked *atomic.Int32
	give  chan struct{}
}

func (l late) Chan() <-chan time.Time {
	if l.asked.Add(1) == 2 {
		<-l.give
	}
	return l.fakeTicker.Chan()
}

// A stopped wheel stops its ticker at once. It does not first receive all ticks in the
// channel, which might never end with a fast ticker.
func TestStopComesBeforeTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ticks = 5
		l := late{newBufferedTicker(ticks), new(atomic.Int32), make(chan struct{})}
		for range ticks {
			l.tick()
		}
		w := newTicking(t, 3, func(any, any) {}, l)
		w.Stop()
		close(l.give)
		settle()
		require.EqualValues(t, 1, l.stops.Load())
		require.GreaterOrEqual(t, len(l.c), ticks-1, "one may be received to see whether the channel is closed")
	})
}

// The wheel and the owner both stop the ticker, in either order. A second Stop of
// go-zero's ticker panics.
func TestTickerStoppedByBoth(t *testing.T) {
	l := logged(t)
	synctest.Test(t, func(t *testing.T) {
		c := closer{make(chan time.Time, 1)}
		w := newTicking(t, 3, func(any, any) {}, c)
		c.Stop()
		w.Stop()
		settle()
		require.Empty(t, l.take(t))

		c = closer{make(chan time.Time, 1)}
		c.c <- time.Time{}
		w = newTicking(t, 3, func(any, any) {}, c)
		w.Stop()
		settle()
		require.Panics(t, c.Stop, "the wheel has stopped it")
	})
}

// panicking is a ticker whose Stop panics.
type panicking struct{ *fakeTicker }

func (panicking) Stop() { panic("can't be stopped") }

func TestTickerThatPanics(t *testing.T) {
	l := logged(t)
	synctest.Test(t, func(t *testing.T) {
		w := newTicking(t, 3, func(any, any) {}, panicking{newFakeTicker()})
		w.Stop()
		settle()
		lines := l.take(t)
		require.Len(t, lines, 1)
		require.Equal(t, "can't be stopped", lines[0]["panic"])
	})
}

func TestNewTimingWheelWithTickerArguments(t *testing.T) {
	nop := func(any, any) {}
	for name, ticker := range map[string]compat.Ticker{
		"nil": nil, "nil pointer": (*fakeTicker)(nil), "nil channel": new(fakeTicker), "nil channel too": closer{},
	} {
		w, err := compat.NewTimingWheelWithTicker(interval, 10, nop, ticker)
		require.Error(t, err, name)
		require.Contains(t, err.Error(), "interval: 1s, slots: 10, execute: 0x")
		require.Nil(t, w)
	}
	h := newFakeTicker()
	for _, c := range badArguments {
		w, err := compat.NewTimingWheelWithTicker(c.interval, c.slots, c.execute, h)
		require.EqualError(t, err, c.text())
		require.Nil(t, w)
	}
	require.Zero(t, h.stops.Load(), "the caller still owns the ticker")
}
