package hierarchy

import (
	"iter"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Driven is the timing wheel itself: no lock, no goroutine and no clock. It is for programs that have a lock and a loop
// of their own, such as an event loop, a cache or a store. They call Expire when time has passed, and Next to find out
// how long to sleep.
//
// Times are durations since an instant of the caller's choice, in any unit that fits; the Unix epoch is one choice. The
// present time of a Driven, called now below, is the latest time with which Expire was called, and 0 at first. A timer
// that is set to now or before is due at the next Expire.
//
// The zero Driven is ready to use. It must not be copied after first use, and only one goroutine may use it at a time:
// callers that share it must lock it.
//
// A Driven takes about 41 bytes of memory per timer for a T of one word, in addition to ten kilobytes for the circles.
// Memory is released as timers go.
type Driven[T any] struct {
	_      noCopy
	timers *timers.Timers[T] // nil while there is no timer
	orders orders
	now    int64 // Invariant: 0 or more, and never goes back

	// nearest is the earliest timer, and nearestAt its deadline. If nearest is 0, the earliest timer is not known.
	nearest   uint32
	nearestAt int64

	unseen int // timers that were set since Expire or Next last looked for crowds
	popped int // timers that Expire has taken out since it last prepared crowds
}

// Handle identifies a timer of a Driven. It is a value without pointers, safe to copy, to compare and to keep for ever.
// Once its timer has expired or was removed, it identifies nothing, and it never identifies a timer of another Driven.
// The zero Handle identifies nothing.
type Handle struct {
	generation uint64 // Invariant: no other timer of the process has, or ever had, the same generation
	index      uint32
}

// drivenLayout has a base circle of about a second, like a wheel with a zero Config.
var drivenLayout = circles.NewLayout(time.Second)

// drivenTuning prepares crowds in time although the hand moves only in Expire.
func drivenTuning() circles.Tuning {
	t := circles.DefaultTuning()
	t.WholeSlot = true
	return t
}

// Set makes a timer with the value v and the deadline due. It costs about 20 ns, whatever the deadline and however many
// timers there are, and an allocation once in some thousand timers.
func (d *Driven[T]) Set(v T, due time.Duration) Handle {
	t := d.timers
	if t == nil {
		t = d.start()
	}
	generation := d.orders.next()
	i := t.Add(d.now, int64(due), generation, 0)
	if t.Grown() {
		t.MakeRoom(i)
	}
	*t.Value(i) = v
	d.unseen++
	if d.nearest != 0 && int64(due) < d.nearestAt {
		d.nearest, d.nearestAt = i, int64(due)
	}
	return Handle{generation, i}
}

func (d *Driven[T]) start() *timers.Timers[T] {
	d.timers = timers.New[T](drivenLayout, drivenTuning(), d.now)
	d.timers.Fetch(d.timers.Touch)
	return d.timers
}

// lookup returns the node of h, or nil.
func (d *Driven[T]) lookup(h Handle) *arena.Node {
	if d.timers == nil {
		return nil
	}
	return d.timers.Arena().Lookup(h.index, h.generation)
}

// Move gives the timer a new deadline. Among timers of the same deadline it then comes last, as if it had been set now.
// Move reports false if h identifies no timer; then nothing has changed.
func (d *Driven[T]) Move(h Handle, due time.Duration) bool {
	n := d.lookup(h)
	if n == nil {
		return false
	}
	at := int64(due)
	d.timers.Move(h.index, n, d.now, at, d.orders.next())
	d.unseen++
	switch {
	case d.nearest == 0:
	case at < d.nearestAt:
		d.nearest, d.nearestAt = h.index, at
	case d.nearest == h.index && at > d.nearestAt:
		d.nearest = 0
	}
	return true
}

// Remove removes the timer and returns its value. ok is false if h identifies no timer.
func (d *Driven[T]) Remove(h Handle) (v T, ok bool) {
	n := d.lookup(h)
	if n == nil {
		return v, false
	}
	v = *d.timers.Value(h.index)
	d.discard(h.index, n)
	return v, true
}

// discard ends timer i.
func (d *Driven[T]) discard(i uint32, n *arena.Node) {
	if i == d.nearest {
		d.nearest = 0
	}
	d.timers.Clear(i)
	if released := d.timers.Remove(i, n); released != arena.Nothing && d.timers.Release(released) {
		d.timers = nil
	}
}

// Get returns the value and the deadline of the timer, as passed to Set or Move. ok is false if h identifies no timer.
func (d *Driven[T]) Get(h Handle) (v T, due time.Duration, ok bool) {
	n := d.lookup(h)
	if n == nil {
		return v, 0, false
	}
	return *d.timers.Value(h.index), time.Duration(n.Key), true
}

// Len returns the number of timers.
func (d *Driven[T]) Len() int { return d.timers.Len() }

// Next returns the deadline of the earliest timer, which may have passed. ok is false if there is no timer. If the
// earliest timer belongs to a crowd, the first call of Next iterates over the crowd. This takes no memory, unless the
// crowd is already due or another crowd was prepared before. If the earliest timer belongs to no crowd, Next takes some
// nanoseconds, or a few microseconds if the earliest of some hundred timers was removed since the last call.
func (d *Driven[T]) Next() (due time.Duration, ok bool) {
	if d.nearest == 0 {
		if d.Len() == 0 {
			return 0, false
		}
		next := d.timers.Next(d.now, circles.Unlimited)
		d.nearest, d.nearestAt = next.Node, next.At
	}
	return time.Duration(d.nearestAt), true
}

// Expire takes out the timers that are due at now or before, one by one, with their values and deadlines, in order of
// deadline, and of setting where deadlines are equal. If now is earlier than in a previous call, Expire uses the time
// of that call.
//
// The loop may end at any timer: the timers that were not yielded stay. The loop's body may call any method of d.
// Timers that the body sets to now or before are yielded in the same loop. If the body panics, only the timer that was
// yielded last is gone.
//
// The first timer of a crowd costs some tens of nanoseconds for each timer in the crowd, which has to be sorted or
// spread out. Each further step of the loop prepares the next timers in small portions of some tens of microseconds, so
// a caller that holds a lock can release it after any number of timers. If many timers just before the next one were
// removed or moved away, a step costs some nanoseconds for each of these, once. A timer of a crowd takes up to 48 bytes
// more while its part of the crowd is being fired.
func (d *Driven[T]) Expire(now time.Duration) iter.Seq2[T, time.Duration] {
	return func(yield func(T, time.Duration) bool) {
		d.now = max(d.now, int64(now))
		for limit := d.now; ; {
			v, due, ok := d.pop(limit)
			if !ok || !yield(v, due) {
				return
			}
		}
	}
}

// pop takes out the earliest timer, if it is due.
func (d *Driven[T]) pop(now int64) (v T, due time.Duration, ok bool) {
	if d.timers == nil {
		return v, 0, false
	}
	i := d.timers.NextDue(now)
	d.prepare(now)
	if i == 0 {
		return v, 0, false
	}
	n := d.timers.Arena().At(i)
	v, due = *d.timers.Value(i), time.Duration(n.Key)
	d.nearest = 0
	d.discard(i, n)
	return v, due, true
}

// All returns an iterator over all timers, in no order, with their values and deadlines. The body may call anything on
// d. A timer that is there throughout is yielded exactly once. A timer that is set meanwhile is not yielded.
func (d *Driven[T]) All() iter.Seq2[T, time.Duration] {
	return func(yield func(T, time.Duration) bool) {
		latest := d.orders.last
		for i, t := uint32(0), d.timers; t != nil && t == d.timers; {
			if i = t.Arena().After(i); i == 0 {
				return
			}
			n := t.Arena().At(i)
			if n.Generation() <= latest && !yield(*t.Value(i), time.Duration(n.Key)) {
				return
			}
		}
	}
}

// noCopy makes go vet report copies of values that contain it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
