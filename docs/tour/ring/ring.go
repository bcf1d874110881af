// Package ring is the arithmetic of the timing wheel of go-zero v1.10.3
// (core/collection), reduced to what decides at which tick a timer runs. It is here
// for the tour, which shows what goes wrong when a timer is moved, without go-zero
// itself. That it does what go-zero does is tested beside the original, in
// tests/peers/gozero.
//
// It is one circle of slots with a hand that goes on by a slot a tick. A timer that
// is further away than one turn waits for the hand to pass it some times first.
package ring

// Ring is a timing wheel with whole ticks for time. Timers have keys.
type Ring struct {
	slots  [][]*entry
	hand   int
	timers map[int]*place
}

// entry is what stands in a slot.
type entry struct {
	key     int
	circle  int  // how often the hand still has to pass it
	diff    int  // how many slots further it goes after that, before it runs
	removed bool // another entry has taken its place; it goes when the hand comes
}

// place is where the entry of a timer is.
type place struct {
	slot  int
	entry *entry
}

// New makes a ring of so many slots.
func New(slots int) *Ring {
	return &Ring{
		slots:  make([][]*entry, slots),
		hand:   slots - 1, // the first tick comes to slot 0
		timers: make(map[int]*place),
	}
}

// Set has the timer of key run after so many ticks, 1 or more. One that has the key
// already is moved, as go-zero's setTask does.
func (r *Ring) Set(key, ticks int) {
	if _, ok := r.timers[key]; ok {
		r.Move(key, ticks)
		return
	}
	slot, circle := r.slotAndCircle(ticks)
	r.put(slot, &entry{key: key, circle: circle})
}

// Move is go-zero's moveTask, for 1 tick or more. The fault is in the first two
// cases: circle is counted from the hand, as for a new timer, but the entry stays in
// its old slot. How far that is from the hand, and whether its new slot comes
// before it, is not looked at.
func (r *Ring) Move(key, ticks int) {
	p, ok := r.timers[key]
	if !ok {
		return
	}
	slot, circle := r.slotAndCircle(ticks)
	switch {
	case slot >= p.slot:
		p.entry.circle, p.entry.diff = circle, slot-p.slot
	case circle > 0:
		p.entry.circle, p.entry.diff = circle-1, len(r.slots)+slot-p.slot
	default:
		p.entry.removed = true
		r.put(slot, &entry{key: key})
	}
}

// Tick moves the hand on by a slot, and returns the keys of the timers that run.
func (r *Ring) Tick() (run []int) {
	r.hand = (r.hand + 1) % len(r.slots)
	under := r.slots[r.hand]
	r.slots[r.hand] = nil
	for _, e := range under {
		switch {
		case e.removed:
		case e.circle > 0:
			e.circle--
			r.slots[r.hand] = append(r.slots[r.hand], e)
		case e.diff > 0:
			slot := (r.hand + e.diff) % len(r.slots)
			e.diff = 0
			r.put(slot, e)
		default:
			delete(r.timers, e.key)
			run = append(run, e.key)
		}
	}
	return run
}

// slotAndCircle is go-zero's getPositionAndCircle.
func (r *Ring) slotAndCircle(ticks int) (slot, circle int) {
	return (r.hand + ticks) % len(r.slots), (ticks - 1) / len(r.slots)
}

func (r *Ring) put(slot int, e *entry) {
	r.slots[slot] = append(r.slots[slot], e)
	r.timers[e.key] = &place{slot, e}
}
