// Package ring reimplements the arithmetic of the timing wheel of go-zero v1.10.3 (core/collection), reduced to the
// code that decides at which tick a timer runs. The tour uses it to show what goes wrong when a timer is moved, without
// depending on go-zero. The tests in tests/peers/gozero check that it behaves like the original.
//
// It is one circle of slots with a hand that advances by one slot per tick. If a timer is more than one turn away, the
// hand must pass it once for each extra turn before it runs.
package ring

// Ring is a timing wheel that counts time in whole ticks. Timers have keys.
type Ring struct {
	slots  [][]*entry
	hand   int
	timers map[int]*place
}

// entry is a timer in a slot.
type entry struct {
	key     int
	circle  int  // number of times that the hand still has to pass the entry
	diff    int  // number of slots by which the entry then moves on before it runs
	removed bool // whether another entry has replaced it; a removed entry is dropped when the hand reaches it
}

// place is the slot and the entry of a timer.
type place struct {
	slot  int
	entry *entry
}

// New makes a ring with the given number of slots.
func New(slots int) *Ring {
	return &Ring{
		slots:  make([][]*entry, slots),
		hand:   slots - 1, // the first tick comes to slot 0
		timers: make(map[int]*place),
	}
}

// Set makes the timer of key run after ticks, which must be 1 or more. If there is a timer
// with that key, it is moved, as go-zero's setTask does.
func (r *Ring) Set(key, ticks int) {
	if _, ok := r.timers[key]; ok {
		r.Move(key, ticks)
		return
	}
	slot, circle := r.slotAndCircle(ticks)
	r.put(slot, &entry{key: key, circle: circle})
}

// Move is go-zero's moveTask, for 1 tick or more. The fault is in the first two cases:
// circle is counted from the hand, as for a new timer, but the entry stays in its old slot.
// The code ignores how far the old slot is from the hand, and whether the new slot comes
// before it.
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

// Tick advances the hand by one slot and returns the keys of the timers that run.
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
