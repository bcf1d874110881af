package tests

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	ownKeys    = 500 // keys of each goroutine, which knows the value of each
	sharedKeys = 100 // the lowest keys, used by all goroutines and callbacks
	// leastShared is the shortest delay on a shared key. A timer of a shared key may be
	// moved by any goroutine, but never runs earlier than that after it was set, or after
	// the beginning of a Move that was under way then.
	leastShared = time.Millisecond
)

// keyedSite is a Keyed. Its values are the records.
type keyedSite struct {
	account
	w       *hierarchy.Keyed[int, *record]
	workers atomic.Int64
	moves   atomic.Int64 // on shared keys, where the record is not known
	longest atomic.Int64 // of these, in nanoseconds
}

func (s *soak) newKeyedSite(p plan) site {
	x := &keyedSite{account: account{plan: p, faults: s.faults}}
	x.name += " Keyed"
	w, err := hierarchy.NewKeyed(x.config(), x.run)
	if err != nil {
		panic(err)
	}
	x.wheel, x.w = w, w
	return x
}

func (x *keyedSite) run(k int, r *record) {
	r.ran()
	if r.key != k {
		x.faults.add("%s: the callback got key %d with the value of %d", x.name, k, r.key)
	}
	switch n := rand.IntN(64); {
	case n == 0:
		x.pass()
	case n < 12 && r.depth < 3:
		x.share(r.depth + 1)
	}
	x.misbehave()
}

// share does something to a shared key.
func (x *keyedSite) share(depth int) {
	k, d := rand.IntN(sharedKeys), leastShared+max(0, soon())
	switch rand.IntN(6) {
	case 0, 1, 2:
		r := x.openKey(k, depth)
		r.moved = &x.longest
		_ = x.swap(r, d, func(*record, bool) {})
		r.mu.Lock()
		r.from += leastShared - d
		r.mu.Unlock()
	case 3:
		before := monotonic()
		if ok, _ := x.w.Move(k, d); ok {
			x.moves.Add(1)
			x.took(monotonic() - before)
		}
	case 4:
		if r, ok := x.w.Remove(k); ok {
			r.stops.Add(1)
		}
	case 5:
		if r, _, ok := x.w.Get(k); ok && r.key != k {
			x.faults.add("%s: Get of key %d returned the value of %d", x.name, k, r.key)
		}
	}
}

// took notes how long a Move of a shared key has taken.
func (x *keyedSite) took(d time.Duration) {
	for {
		longest := x.longest.Load()
		if int64(d) <= longest || x.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

func (x *keyedSite) openKey(k, depth int) *record {
	r := x.open(depth)
	r.key = k
	return r
}

// swap sets r. It calls check with the value that was there.
func (x *keyedSite) swap(r *record, d time.Duration, check func(old *record, replaced bool)) bool {
	return x.excused(r.set(d, func() (hierarchy.Timer, error) {
		old, replaced, err := x.w.Swap(r.key, r, d)
		if replaced {
			old.swapped.Add(1)
		}
		if err == nil {
			check(old, replaced)
		}
		return hierarchy.Timer{}, err
	}))
}

func (x *keyedSite) load(over func() bool) {
	o := owner{x, sharedKeys + int(x.workers.Add(1))*ownKeys, make([]*record, ownKeys)}
	for n := 1; !over(); n++ {
		switch i := rand.IntN(ownKeys); rand.IntN(10) {
		case 0, 1:
			o.swap(i, soon())
		case 2:
			o.set(i, soon())
		case 3:
			o.swap(i, time.Hour)
		case 4, 5:
			o.move(i)
		case 6:
			o.remove(i)
		case 7:
			o.get(i)
		case 8:
			x.share(0)
		case 9:
			if rand.IntN(200) == 0 {
				x.drainAll()
			}
		}
		if n%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range ownKeys {
		o.remove(i)
	}
}

func (x *keyedSite) drainAll() {
	n := 0
	drained := x.w.Drain(func(k int, r *record) {
		n++
		r.drains.Add(1)
		if r.key != k {
			x.faults.add("%s: Drain passed key %d with the value of %d", x.name, k, r.key)
		}
	})
	if n != drained {
		x.faults.add("%s: Drain passed %d timers and returned %d", x.name, n, drained)
	}
}

// burst sets many keys that no other call uses.
func (x *keyedSite) burst() {
	if x.crowd == 0 {
		return
	}
	base := sharedKeys + 1_000_000_000
	for i := range 10_000 + rand.IntN(x.crowd-10_000) {
		x.swap(x.openKey(base+i, 3), 20*time.Millisecond, func(*record, bool) {})
	}
}

func (x *keyedSite) shutdown() {
	for range 200 {
		x.share(3)
	}
	x.account.shutdown()
}

func (x *keyedSite) judge(sum *tally) {
	phase := x.close()
	all := x.sum
	all.moved += int(x.moves.Load())
	all.agree(x.faults, x.name, x.wheel.Stats())
	sum.add(phase, 1)
}

// owner is the only one to set, move and remove its keys. It knows the value of each,
// unless the timer has run or was drained.
type owner struct {
	*keyedSite
	base int
	held []*record // nil: the key is not set
}

func (o *owner) swap(i int, d time.Duration) {
	r := o.openKey(o.base+i, 0)
	if o.keyedSite.swap(r, d, func(old *record, replaced bool) { o.found(i, old, replaced) }) {
		o.held[i] = r
	}
}

// found checks the result of a call for key i: it must be the value held, or none if the
// timer has ended.
func (o *owner) found(i int, r *record, ok bool) {
	switch held := o.held[i]; {
	case ok && r != held:
		o.faults.add("%s: a key has the value of another timer", o.name)
	case !ok && held != nil:
		held.gone()
		o.held[i] = nil
	}
}

func (o *owner) set(i int, d time.Duration) {
	r := o.openKey(o.base+i, 0)
	err := r.set(d, func() (hierarchy.Timer, error) { return hierarchy.Timer{}, o.w.Set(r.key, r, d) })
	if !o.excused(err) {
		return
	}
	if held := o.held[i]; held != nil {
		held.hidden = true
	}
	o.held[i] = r
}

func (o *owner) move(i int) {
	r, d := o.held[i], soon()
	if r == nil {
		if ok, err := o.w.Move(o.base+i, d); ok || err != nil {
			o.faults.add("%s: Move of an unset key returned %v, %v", o.name, ok, err)
		}
		return
	}
	o.found(i, r, r.reset(d, func() bool {
		ok, err := o.w.Move(r.key, d)
		return ok && err == nil
	}))
}

func (o *owner) remove(i int) {
	r, ok := o.w.Remove(o.base + i)
	if ok {
		r.stops.Add(1)
	}
	o.found(i, r, ok)
	o.held[i] = nil
}

// get compares the remaining time of a timer with the time at which it is due.
func (o *owner) get(i int) {
	before := monotonic()
	r, left, ok := o.w.Get(o.base + i)
	after := monotonic()
	v, also := o.w.Value(o.base + i)
	o.found(i, r, ok)
	if ok && (left < r.from-after || left > max(0, r.to-before)) {
		o.faults.add("%s: Get returned %v remaining, want %v to %v", o.name, left, r.from-after, r.to-before)
	}
	if also && (!ok || v != r) {
		o.faults.add("%s: Value and Get returned different values", o.name)
	}
}
