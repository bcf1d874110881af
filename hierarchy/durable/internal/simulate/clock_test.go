package simulate

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

const (
	maxSkew = 3200 * time.Millisecond
	// mostOff is how far wall clocks are off in either direction. So the bounds that a slow renewal gives them are often
	// within maxSkew, and an owner's time may begin ahead of its wall clock by less than that of the last owner was.
	mostOff = 2 * time.Second
	// drift is how much faster or slower than true time the other clocks are, at most: what package remote allows for.
	// Leases tolerate a quarter, and bounds of the servers' time a tenth.
	drift = 0.001
	// wallCheck is after which time a process knows that its wall clock was set, and a little more.
	wallCheck = 11 * time.Second
)

// clocks are those of one process. It implements clock.Clock.
type clocks struct {
	p      *worker
	system clock.Clock
	rate   float64 // of the boot clock

	mu     sync.Mutex    // guards what follows
	off    time.Duration // how far the wall clock is ahead of true time
	sets   []setting     // what that was, in order
	most   time.Duration // how far it has ever been
	wrong  time.Time     // since when it is off by more than it may be, or zero
	parted time.Time     // when its distance from the clock that counts last changed
	slept  time.Duration
	asleep time.Duration // the boot time at which the process began to stand still, or 0
}

// setting is how far a wall clock is off since a time.
type setting struct {
	at  time.Time
	off time.Duration
}

// newClocks returns the clocks of a process that begins. Some wall clocks are wrong at first, by an hour or by little more
// than they may be.
func newClocks(p *worker, r *rand.Rand) *clocks {
	c := &clocks{p: p, system: clock.System(), rate: 1 + drift*(2*r.Float64()-1), most: -mostOff}
	c.set(wrong(r))
	if r.IntN(4) == 0 {
		c.off, c.wrong = []time.Duration{-time.Hour, tooFar(r), time.Hour}[r.IntN(3)], time.Now()
		c.sets[0].off = c.off
		time.AfterFunc(time.Duration(r.Int64N(int64(2*lease))), func() { c.set(wrong(r)) })
	}
	return c
}

// wrong returns how far a wall clock is off. Half of them are off by the most, so that owners follow each other whose times
// are further apart than maxSkew.
func wrong(r *rand.Rand) time.Duration {
	if off := time.Duration(r.Int64N(int64(2*mostOff))) - mostOff; r.IntN(2) == 0 {
		return off
	}
	return mostOff * time.Duration(2*r.IntN(2)-1)
}

// tooFar returns how far a wall clock is off that is wrong by little more than it may be.
func tooFar(r *rand.Rand) time.Duration {
	little := maxSkew + 100*time.Millisecond + time.Duration(r.Int64N(int64(time.Second)))
	return []time.Duration{-little, little}[r.IntN(2)]
}

// set sets how far the wall clock is ahead of true time.
func (c *clocks) set(off time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off, c.most, c.wrong, c.parted = off, max(c.most, off), time.Time{}, time.Now()
	c.sets = append(c.sets, setting{time.Now(), off})
	if off.Abs() > maxSkew {
		c.wrong = time.Now()
	}
}

// reaches returns when, after a time, the process knows that its wall clock has reached another one, and has had the time
// to act before the clock is set again.
func (c *clocks) reaches(wall int64, after time.Time) (known time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.sets {
		known = latest(after, time.Unix(0, wall).Add(-s.off))
		if i > 0 {
			known = latest(known, s.at.Add(wallCheck))
		}
		if i+1 == len(c.sets) || known.Add(mostLate).Before(c.sets[i+1].at) {
			break
		}
	}
	return known
}

// wasOff reports whether the process must not have taken anything over since a time.
func (c *clocks) wasOff(since time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.wrong.IsZero() && c.wrong.Before(since)
}

// isOff reports whether the process must not take anything over.
func (c *clocks) isOff() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.off.Abs() > maxSkew
}

// latest returns the wall time by the furthest setting.
func (c *clocks) latest() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.most)
}

func (c *clocks) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off)
}

// boot goes on while the process stands still.
func (c *clocks) boot() time.Duration {
	return time.Hour + time.Duration(c.rate*float64(c.system.Elapsed()))
}

func (c *clocks) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asleep > 0 {
		return c.asleep - c.slept
	}
	return c.boot() - c.slept
}

func (c *clocks) sleep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep = c.boot()
}

func (c *clocks) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept += c.boot() - c.asleep
	c.asleep, c.parted = 0, time.Now()
}

// havePartedSince reports whether the wall clock was set, or the process has stood still, since a time.
func (c *clocks) havePartedSince(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asleep > 0 || !c.parted.Before(at)
}

// NewAlarm returns an alarm that does not ring while the process stands still, nor for as long after that.
func (c *clocks) NewAlarm(ring func()) clock.Alarm {
	a := &alarm{c: c}
	a.Alarm = c.system.NewAlarm(func() {
		c.p.await(0)
		if !a.isEarly() {
			ring()
		}
	})
	return a
}

type alarm struct {
	clock.Alarm
	c *clocks

	mu sync.Mutex
	at time.Duration // when it rings, by the clock of the process
}

func (a *alarm) Set(elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = elapsed
	a.set()
}

// set sets the system's alarm. The lock is held.
func (a *alarm) set() {
	in := time.Duration(min(float64(a.at-a.c.Elapsed())/a.c.rate, float64(time.Hour)))
	a.Alarm.Set(a.c.system.Elapsed() + in + 1)
}

// isEarly sets the system's alarm again if the clock of the process has stood still meanwhile.
func (a *alarm) isEarly() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	early := a.at > a.c.Elapsed()
	if early {
		a.set()
	}
	return early
}

// clockGoesOff sets the wall clock of a process wrong while another one leaves, in some rounds: perhaps when it has requested a
// partition, and before it is given that. Then a third process takes it. The function that it returns waits for that.
func (w *world) clockGoesOff(p *worker) (right func()) {
	w.mu.Lock()
	anyOff := slices.ContainsFunc(w.living, func(p *worker) bool { return p.clock.isOff() }) // one that has begun lately
	w.mu.Unlock()
	if w.chance.intN(2) == 0 || anyOff {
		return func() {}
	}
	r, begun := w.chance.branch(), time.Now()
	off, later := tooFar(r), wrong(r)
	late := time.AfterFunc(w.chance.upTo(lease/2), func() { p.clock.set(off) })
	return func() {
		late.Stop()
		defer p.heldUp(begun, everywhere)
		w.allOwned(lease)
		p.clock.set(later)
		time.Sleep(wallCheck)
	}
}

// allOwned checks that each partition has one owner within a time.
func (w *world) allOwned(within time.Duration) {
	for begun := time.Now(); ; time.Sleep(prompt / 10) {
		owners, _ := w.owned()
		if slices.Min(owners) == 1 && slices.Max(owners) == 1 {
			return
		}
		if time.Since(begun) > within {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wrong("shares: partitions have %v owners, while a clock is off", owners)
			return
		}
	}
}
