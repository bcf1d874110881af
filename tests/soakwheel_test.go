package tests

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// timerSite is a Wheel or an Of, whose timers are stopped and reset by handle.
type timerSite struct {
	account
	set   func(r *record, d time.Duration) (hierarchy.Timer, error)
	at    func(r *record, t time.Time) (hierarchy.Timer, error) // nil: it has no At
	drain func(func(*record)) int                               // nil: it has no Drain
	board [64]atomic.Pointer[record]                            // timers that any goroutine may stop or reset
}

func (s *soak) newWheelSite(p plan) site {
	x := &timerSite{account: account{plan: p, faults: s.faults}}
	x.name += " Wheel"
	w, err := hierarchy.New(x.config())
	if err != nil {
		panic(err)
	}
	x.wheel = w
	x.set = func(r *record, d time.Duration) (hierarchy.Timer, error) {
		return w.AfterFunc(d, func() { x.run(r) })
	}
	x.at = func(r *record, t time.Time) (hierarchy.Timer, error) {
		return w.At(t, func() { x.run(r) })
	}
	return x
}

func (s *soak) newOfSite(p plan) site {
	x := &timerSite{account: account{plan: p, faults: s.faults}}
	x.name += " Of"
	w, err := hierarchy.NewOf(x.config(), x.run)
	if err != nil {
		panic(err)
	}
	x.wheel, x.set, x.drain = w, w.Set, w.Drain
	return x
}

// run is the callback.
func (x *timerSite) run(r *record) {
	r.ran()
	if x.workers > 0 {
		if n := x.busy.Add(1); n > x.workers {
			x.faults.add("%s: %d callbacks run at the same time", x.name, n)
		}
		defer x.busy.Add(-1)
	}
	switch n := rand.IntN(64); {
	case n == 0:
		x.pass()
	case n < 8 && r.depth < 3:
		x.post(x.add(soon(), r.depth+1))
	case n < 12:
		x.meddle()
	case n == 12:
		r.stop() // too late: it has fired
	case n == 13:
		r.resetTimer(0)
	}
	x.misbehave()
}

// add sets a timer. It returns nil if the wheel refused it.
func (x *timerSite) add(d time.Duration, depth int) *record {
	r := x.open(depth)
	if !x.excused(r.set(d, func() (hierarchy.Timer, error) { return x.set(r, d) })) {
		return nil
	}
	return r
}

// post puts r on the board.
func (x *timerSite) post(r *record) {
	if r != nil {
		x.board[rand.IntN(len(x.board))].Store(r)
	}
}

// meddle stops or resets a timer on the board.
func (x *timerSite) meddle() {
	r := x.board[rand.IntN(len(x.board))].Load()
	switch {
	case r == nil:
	case rand.IntN(2) == 0:
		r.stop()
	default:
		r.resetTimer(soon())
	}
}

func (x *timerSite) load(over func() bool) {
	var long []*record
	for n := 1; !over(); n++ {
		switch rand.IntN(12) {
		case 0, 1, 2:
			x.add(soon(), 0)
		case 3, 4:
			x.post(x.add(soon(), 0))
		case 5:
			if r := x.add(soon(), 0); r != nil {
				r.stop()
			}
		case 6:
			if r := x.add(soon(), 0); r != nil {
				r.resetTimer(soon())
			}
		case 7:
			if r := x.add(time.Hour, 0); r != nil {
				long = append(long, r)
				x.post(r)
			}
		case 8, 9:
			x.meddle()
		case 10:
			long = x.endOne(long)
		case 11:
			x.rarely(rand.IntN(200))
		}
		if n%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	for len(long) > 0 {
		long = x.endOne(long)
	}
}

// rarely checks the Stats, and once in 200 calls drains the wheel. More often would leave
// it empty most of the time.
func (x *timerSite) rarely(n int) {
	if n == 0 && x.drain != nil {
		x.drainAll()
	}
	if st := x.wheel.Stats(); st.Scheduled != st.Fired+st.Stopped+st.Drained+st.Dropped+uint64(st.Pending) {
		x.faults.add("%s: Stats don't add up: %+v", x.name, st)
	}
}

func (x *timerSite) drainAll() {
	n := 0
	drained := x.drain(func(r *record) {
		n++
		r.drains.Add(1)
		if !x.meek && rand.IntN(50) == 0 {
			x.panics.Add(1)
			panic("soak")
		}
	})
	if n != drained {
		x.faults.add("%s: Drain passed %d timers and returned %d", x.name, n, drained)
	}
}

// endOne stops the last of the long timers, or resets it to a short delay.
func (x *timerSite) endOne(long []*record) []*record {
	if len(long) == 0 {
		return nil
	}
	r := long[len(long)-1]
	if rand.IntN(2) == 0 {
		r.stop()
	} else {
		r.resetTimer(soon())
	}
	return long[:len(long)-1]
}

// burst sets a crowd for one instant or with one delay, and stops some of its timers.
func (x *timerSite) burst() {
	if x.crowd == 0 {
		return
	}
	n := 10_000 + rand.IntN(x.crowd-10_000)
	crowd := make([]*record, 0, n)
	due := time.Now().Add(20 * time.Millisecond)
	for range n {
		crowd = append(crowd, x.addToCrowd(due))
	}
	for range n / 8 {
		if r := crowd[rand.IntN(n)]; r != nil {
			r.stop()
		}
	}
}

func (x *timerSite) addToCrowd(due time.Time) *record {
	if x.at == nil {
		return x.add(20*time.Millisecond, 3)
	}
	r := x.open(3)
	err := r.set(0, func() (hierarchy.Timer, error) { return x.at(r, due) })
	r.mu.Lock()
	r.from = max(r.from, due.Sub(soakEpoch))
	r.mu.Unlock()
	if !x.excused(err) {
		return nil
	}
	return r
}

// runOut also checks that the empty wheel accepts exactly MaxPending timers.
func (x *timerSite) runOut() {
	x.account.runOut()
	if x.cfg.MaxPending == 0 {
		return
	}
	var all []*record
	for range x.cfg.MaxPending {
		r := x.add(time.Hour, 0)
		if r == nil {
			x.faults.add("%s: the wheel is full with %d timers", x.name, x.wheel.Len())
			break
		}
		all = append(all, r)
	}
	if n := x.wheel.Len(); n != len(all) || n == x.cfg.MaxPending && x.add(time.Hour, 0) != nil {
		x.faults.add("%s: Len is %d with %d timers pending, or MaxPending was exceeded", x.name, n, len(all))
	}
	for _, r := range all {
		r.stop()
	}
}

// shutdown stops the wheel while timers are due.
func (x *timerSite) shutdown() {
	for range 200 {
		x.add(soon(), 0)
	}
	x.account.shutdown()
}

func (x *timerSite) judge(sum *tally) {
	phase := x.close()
	x.sum.agree(x.faults, x.name, x.wheel.Stats())
	sum.add(phase, 1)
	for i := range x.board {
		x.board[i].Store(nil)
	}
}
