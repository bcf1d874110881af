package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal/memory"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// request asks for operations under an id.
func (b *bench) request(serial uint64, asks ...Ask) (*Call, error) {
	c := &Call{Asks: asks, Request: RequestID{Caller: 7, Serial: serial}}
	return c, b.p.Do(b.t.Context(), c)
}

func (b *bench) setAsk(k, v string) Ask {
	return Ask{Kind: frame.Set, Key: []byte(k), Value: []byte(v), Due: b.p.Now() + int64(100*time.Hour)}
}

func removeAsk(k string) Ask { return Ask{Kind: frame.Remove, Key: []byte(k)} }

// A repetition is answered as the first copy was, and nothing happens, whatever was in between.
func TestRepetitionsTakeHoldOnce(t *testing.T) {
	for name, between := range map[string]func(*bench){
		"nothing": func(*bench) {}, "crash": (*bench).reopen,
		"shutdown": func(b *bench) { b.shut(); b.open() },
		"trimming": func(b *bench) { b.trimAll(); b.reopen() },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if b.cfg.MaxPending = 3; name == "trimming" {
				b.cfg.TrimAbove = 1
			}
			b.open()
			b.set("a", "1", time.Hour)
			again := func() {
				c, err := b.request(1, removeAsk("a"))
				b.NoError(err)
				b.Equal([]bool{true}, c.Took)
				b.Equal("1", c.Value)
				c, err = b.request(2, removeAsk("a"))
				b.NoError(err)
				b.Equal([]bool{false}, c.Took)
				c, err = b.request(3, b.setAsk("b", "x"), removeAsk("none"), b.setAsk("c", "x"))
				b.NoError(err)
				b.Equal([]bool{true, false, true}, c.Took)
				_, err = b.request(4, b.setAsk("d", ""), b.setAsk("e", ""))
				b.ErrorIs(err, ErrFull)
			}
			again()
			b.remove("b")
			b.set("a", "2", time.Hour)
			between(b)
			appends := b.disk.Appends
			again()
			b.Equal(map[string]string{"a": "2", "c": "x"}, b.keys(false))
			if name != "trimming" {
				b.Equal(appends, b.disk.Appends)
			}
			_, err := b.request(3, removeAsk("a"))
			b.NoError(err) // a byte of bits is as long as before
			_, err = b.request(3, make([]Ask, 9)...)
			b.ErrorIs(err, errOtherRequest)
			_, err = b.request(5, removeAsk("c"))
			b.NoError(err)
		})
	}
}

func (b *bench) reopen() {
	b.crash()
	b.open()
}

// trimAll writes until all that the log has now was trimmed.
func (b *bench) trimAll() {
	number := b.number()
	for i := 0; ; i++ {
		b.set("trims", fmt.Sprint(i), 50*time.Hour)
		b.p.mu.Lock()
		begin := b.p.head.Begin
		b.p.mu.Unlock()
		if begin > number {
			break
		}
	}
	b.remove("trims")
}

// After five minutes, by the times of frames, answers are forgotten, also in the log.
func TestAnswersAreForgotten(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 1
	b.open()
	_, err := b.request(1, b.setAsk("a", ""))
	b.NoError(err)
	b.mock.Add(state.Remember - 1)
	c, err := b.request(1, b.setAsk("a", ""))
	b.NoError(err)
	b.True(c.Took[0])
	_, err = b.request(2, b.setAsk("b", ""))
	b.NoError(err)
	b.Equal(2, b.answers())
	b.mock.Add(1)
	b.remove("a")
	b.Equal(1, b.answers())
	b.remove("b")
	c, err = b.request(1, removeAsk("a"))
	b.NoError(err)
	b.False(c.Took[0])
	b.reopen() // both are in the log
	b.Equal(2, b.answers())
	c, err = b.request(1, removeAsk("a"))
	b.NoError(err)
	b.False(c.Took[0])
	b.mock.Add(state.Remember)
	b.reopen()
	b.Zero(b.answers())
	b.trimAll()
	b.Zero(b.p.Stats().LiveBytes)
}

// Two copies of a request in one frame are answered alike.
func TestCopiesInOneFrame(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := make(chan bool), make(chan bool)
		first := true
		b.open()
		b.log.Before = func(uint64) {
			if first {
				first = false
				held <- true
				<-hold
			}
		}
		go b.set("a", "1", time.Hour)
		<-held
		type result struct {
			*Call
			error
		}
		results := make(chan result)
		const copies = 5
		ask := func(asks ...Ask) {
			c, err := b.request(1, asks...)
			results <- result{c, err}
		}
		for range copies - 1 {
			go ask(removeAsk("a"))
		}
		synctest.Wait()
		go ask(removeAsk("a"), removeAsk("b"))
		synctest.Wait()
		hold <- true
		taken := 0
		for range copies {
			r := <-results
			if len(r.Asks) == 2 {
				b.ErrorIs(r.error, errOtherRequest)
				continue
			}
			b.NoError(r.error)
			b.Equal("1", r.Value)
			b.True(r.Took[0])
			taken++
		}
		b.Equal(copies-1, taken)
		b.shut()
	})
}

// Random requests, each repeated until it is answered, and later again, over faults of the log,
// deaths, losses of power, shutdowns and trims: each takes hold once.
func TestRandomRepetitions(t *testing.T) {
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := &repeater{bench: newBench(t), rand: rand.New(rand.NewPCG(seed, 9)), faults: rand.New(rand.NewPCG(seed, 10)),
				timers: map[string]string{}}
			r.cfg.TrimAbove, r.cfg.MaxPending, r.cfg.MarkEvery = 200, 5, time.Microsecond
			r.open()
			for range 300 {
				r.step()
			}
			r.crash()
			r.open()
			r.Equal(r.timers, r.keys(false))
			r.Equal(r.ids(), r.lastIDs)
		})
	}
}

type repeater struct {
	*bench
	rand    *rand.Rand
	timers  map[string]string // as they must be
	done    []answered
	lastIDs map[string]frame.ID
	dying   atomic.Bool
	faults  *rand.Rand // used by the log
}

// answered is a request and its answer.
type answered struct {
	asks  []Ask
	took  []bool
	value string
	full  bool
	at    time.Duration
}

func (r *repeater) step() {
	r.mock.Add(time.Duration(r.rand.IntN(2000)) * time.Millisecond)
	if n := len(r.done); n > 0 && r.rand.IntN(3) == 0 {
		serial := max(0, n-1-r.rand.IntN(20))
		if r.mock.Elapsed()-r.done[serial].at < state.Remember {
			r.until(uint64(serial), r.done[serial])
			r.Equal(r.lastIDs, r.ids())
		}
		return
	}
	want := r.expect()
	r.until(uint64(len(r.done)), want)
	r.done = append(r.done, want)
	r.Equal(r.timers, r.keys(false))
	r.lastIDs = r.ids()
}

// expect makes a request, and says what its answer must be.
func (r *repeater) expect() (want answered) {
	want.at = r.mock.Elapsed()
	next := map[string]string{}
	for k, v := range r.timers {
		next[k] = v
	}
	for range 1 + r.rand.IntN(3) {
		k := fmt.Sprint(r.rand.IntN(7))
		v, there := next[k]
		switch r.rand.IntN(4) {
		case 0:
			want.asks, want.took = append(want.asks, removeAsk(k)), append(want.took, there)
			want.value = v
			delete(next, k)
		case 1:
			a := r.setAsk(k, "")
			a.Kind = frame.Move
			want.asks, want.took = append(want.asks, a), append(want.took, there)
		default:
			next[k] = fmt.Sprint(r.rand.IntN(1000))
			want.asks, want.took = append(want.asks, r.setAsk(k, next[k])), append(want.took, true)
		}
	}
	if want.full = len(next) > max(len(r.timers), r.cfg.MaxPending); !want.full {
		r.timers = next
	}
	return want
}

// until asks until there is an answer, which must be that.
func (r *repeater) until(serial uint64, want answered) {
	for answered := false; !answered; {
		r.disturb()
		c, err := r.request(serial, want.asks...)
		r.log.SetFault(nil)
		switch {
		case err == nil:
			answered = true
			r.False(want.full)
			r.Equal(want.took, c.Took)
			if len(want.asks) == 1 {
				r.Equal(want.value, c.Value)
			}
		case errors.Is(err, ErrFull):
			answered = true
			r.True(want.full)
		default:
			r.True(r.dying.Load(), "%v", err)
		}
		if r.dying.Swap(false) {
			r.rise()
		}
	}
}

// rise opens the partition after a death.
func (r *repeater) rise() {
	r.crash()
	if r.rand.IntN(2) == 0 {
		r.disk.LosePower()
	} else {
		r.disk.Arrive()
	}
	r.open()
}

// disturb has something go wrong soon, or shuts the partition.
func (r *repeater) disturb() {
	p, log := r.p, r.log
	switch r.rand.IntN(8) {
	case 0:
		r.shut()
		r.open()
	case 1, 2:
		after := r.rand.IntN(2) == 0
		log.SetFault(func([]byte) memory.Fault { // death
			r.dying.Store(true)
			go func() { log.Close(); p.abandon() }()
			if after {
				return memory.Silence
			}
			return memory.Drop
		})
	case 3:
		log.SetFault(func([]byte) memory.Fault { return memory.Fault(r.faults.IntN(int(memory.Twice) + 1)) })
	}
}

// ids are those of all timers. A request that takes hold again would give a new one.
func (r *repeater) ids() map[string]frame.ID {
	ids := map[string]frame.ID{}
	r.NoError(r.p.All(false, func(t state.Timer) bool {
		ids[t.Key] = t.ID
		return true
	}))
	return ids
}

// answers is how many answers are remembered.
func (b *bench) answers() int {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	return b.p.state.Answers()
}
