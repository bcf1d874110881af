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

// history is what happens to a timer, in ticks: it is set at begin for set, and
// elapsed after that moved to move. again: by setting it again.
type history struct {
	begin, set, elapsed, move int
	again                     bool
}

func (h history) moved() int { return h.begin + h.elapsed }
func (h history) due() int   { return h.moved() + h.move }

// do does to the timer what h says for that tick.
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

// histories is all of up to three turns.
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

// requireExact has each history happen, all on one wheel, and checks at which
// tick each task runs.
func requireExact(t *testing.T, slots int, all []history) {
	h, now := newHand(), 0
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
	for now = 0; now <= last+3*slots; now++ { // and nothing runs twice
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

// A single timer: the wheel is aimed at it alone.
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

// reference is a wheel with a ticker as one would write it to be right only.
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

// runRandomly does the same random things to a wheel and to the reference.
// careful: only after each is it waited until nothing moves any more.
func runRandomly(t *testing.T, seed uint64, careful bool) {
	c := rand.New(rand.NewPCG(seed, 7))
	ref := &reference{timers: make(map[int]pending)}
	h, tasks := newHand(), new(ran)
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
			settle() // tasks note the tick they run at
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
			h, tasks := newHand(), new(ran)
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

// Time is the ticks, not the clock on the wall.
func TestNothingHappensBetweenTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, tasks := newHand(), new(ran)
		w := newTicking(t, 10, tasks.note, h)
		require.NoError(t, w.SetTimer("a", 1, 2*interval))
		time.Sleep(time.Hour) // the bubble's
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
		h, tasks := newHand(), new(ran)
		w := newTicking(t, 3, tasks.note, h)
		for now, d := range []time.Duration{1, interval / 2, interval - 1} {
			tasks.at(now)
			require.NoError(t, w.SetTimer("a", d, 4*interval))
			require.NoError(t, w.MoveTimer("a", d))
			settle()
			require.Equal(t, []string{fmt.Sprintf("a=%v@%d", d, now)}, tasks.take())
			h.tick()
		}
		for range 10 { // and not again
			h.tick()
		}
		settle()
		require.Empty(t, tasks.take())
		require.NoError(t, w.MoveTimer("a", 1), "it has no timer")
		settle()
		require.Empty(t, tasks.take())
	})
}

// Once the call that runs the task at once has returned, no later one can take it
// back, put it off or change what it runs with.
func TestMoveBelowTheIntervalIsFinal(t *testing.T) {
	for name, then := range map[string]func(w *compat.TimingWheel) error{
		"remove": func(w *compat.TimingWheel) error { return w.RemoveTimer("a") },
		"move":   func(w *compat.TimingWheel) error { return w.MoveTimer("a", time.Hour) },
		"set": func(w *compat.TimingWheel) error {
			defer func() { _ = w.RemoveTimer("a") }()
			return w.SetTimer("a", 2, time.Hour)
		},
		"drain": func(w *compat.TimingWheel) error { return w.Drain(func(any, any) { panic("taken out") }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, tasks := newHand(), new(ran)
				w := newTicking(t, 3, tasks.note, h)
				for range 500 { // the wheel is busy with the call before, or not any more
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

// Whoever has sent a tick finds it counted; also where the channel has a buffer,
// as those of package time and of go-zero's own fake.
func TestATickSentIsCounted(t *testing.T) {
	for buffer := range 3 {
		synctest.Test(t, func(t *testing.T) {
			h, tasks := newHandOf(buffer), new(ran)
			w := newTicking(t, 3, tasks.note, h)
			for i := range 500 {
				require.NoError(t, w.RemoveTimer("none")) // with which the wheel may still be busy
				h.tick()
				require.NoError(t, w.SetTimer("a", i, interval))
				settle()
				require.Empty(t, tasks.take(), "it ran at a tick from before it was set")
				h.tick()
				require.NoError(t, w.SetTimer("a", "next", interval)) // not in place of what is due
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
	h := newHand()
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

// closer is a ticker of go-zero's kind: to stop it closes its channel.
type closer struct{ c chan time.Time }

func (c closer) Chan() <-chan time.Time { return c.c }
func (c closer) Stop()                  { close(c.c) }

func TestTicksEnd(t *testing.T) {
	l := logged(t)
	for range 300 { // the wheel has just been busy with a call, or not yet
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

// The tick that was sent before the channel was closed counts.
func TestLastTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tasks := closer{make(chan time.Time, 1)}, new(ran)
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
		h := newHand()
		w := newTicking(t, 3, func(any, any) {}, h)
		for range 3 {
			w.Stop()
			requireClosed(t, w)
			settle()
			require.EqualValues(t, 1, h.stops.Load())
		}

		h = newHand()
		w = newTicking(t, 3, func(any, any) {}, h)
		close(h.c)
		settle()
		w.Stop()
		settle()
		require.Zero(t, h.stops.Load(), "a ticker that has ended is let alone")
	})
}

// late is a ticker that has ticks in its channel, which the wheel gets when it asks
// for the second time: at the first, it was made.
type late struct {
	*hand
	asked *atomic.Int32
	give  chan struct{}
}

func (l late) Chan() <-chan time.Time {
	if l.asked.Add(1) == 2 {
		<-l.give
	}
	return l.hand.Chan()
}

// A wheel that is stopped stops its ticker at once. It does not receive all that is in
// the channel before: with a fast ticker that might never end.
func TestStopComesBeforeTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ticks = 5
		l := late{newHandOf(ticks), new(atomic.Int32), make(chan struct{})}
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

// Both stop it, the wheel and who made it, in whatever order: go-zero's panics.
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

// nasty is a ticker that can't be stopped.
type nasty struct{ *hand }

func (nasty) Stop() { panic("can't be stopped") }

func TestTickerThatPanics(t *testing.T) {
	l := logged(t)
	synctest.Test(t, func(t *testing.T) {
		w := newTicking(t, 3, func(any, any) {}, nasty{newHand()})
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
		"nil": nil, "nil pointer": (*hand)(nil), "nil channel": new(hand), "nil channel too": closer{},
	} {
		w, err := compat.NewTimingWheelWithTicker(interval, 10, nop, ticker)
		require.Error(t, err, name)
		require.Contains(t, err.Error(), "interval: 1s, slots: 10, execute: 0x")
		require.Nil(t, w)
	}
	h := newHand()
	for _, c := range badArguments {
		w, err := compat.NewTimingWheelWithTicker(c.interval, c.slots, c.execute, h)
		require.EqualError(t, err, c.text())
		require.Nil(t, w)
	}
	require.Zero(t, h.stops.Load(), "it is not ours")
}
