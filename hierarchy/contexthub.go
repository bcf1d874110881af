package hierarchy

import (
	"context"
	"reflect"
	"sync/atomic"
)

// hub is one AfterFunc of a parent that all contexts below this parent share. An AfterFunc
// for each of them would cost as much as its timer.
//
// A parent gets a hub when several contexts in a row are made below it. That is typical of
// the context of a service, not of the context of a request. The hub stays, even without
// followers, until the parent ends or another parent needs the slot.
type hub struct {
	followers
	parent context.Context // immutable, like all fields below; a context of package context, without values
	done   <-chan struct{} // its Done
	kin    *timeoutContext // its nearest ancestor of this type, or nil
	unhook func() bool     // stops the AfterFunc
}

// hubSlot holds the hub of one parent.
type hubSlot struct {
	hub  atomic.Pointer[hub]
	last atomic.Uintptr // the parent of the last context
	row  atomic.Int32   // how many contexts in a row were made below it
	_    [40]byte       // each slot has a cache line of its own
}

// hubAfter is how many contexts in a row are made below a parent before it gets a hub.
const hubAfter = 3

var hubSlots [16]hubSlot

// parentID identifies a parent by its Done, without keeping the parent alive. If a later
// parent has the same number, it gets its hub a little sooner.
func parentID(done <-chan struct{}) uintptr { return reflect.ValueOf(done).Pointer() }

func hubSlotOf(id uintptr) *hubSlot { return &hubSlots[id/64%uintptr(len(hubSlots))] }

// find returns the hub of the parent with that Done, or nil.
func (s *hubSlot) find(done <-chan struct{}) *hub {
	if h := s.hub.Load(); h != nil && h.done == done {
		return h
	}
	return nil
}

// meet counts a context made below parent. It returns a new hub after several in a row,
// and nil before.
func (s *hubSlot) meet(id uintptr, parent context.Context, kin *timeoutContext) *hub {
	if s.last.Swap(id) != id {
		s.row.Store(0)
	}
	if s.row.Add(1) <= hubAfter {
		return nil
	}
	h := &hub{parent: parent, done: parent.Done(), kin: kin}
	h.unhook = context.AfterFunc(parent, h.end)
	if old := s.hub.Swap(h); old != nil {
		old.retire()
	}
	if parent.Err() != nil {
		s.hub.CompareAndSwap(h, nil) // end may have been called before h was in its slot
	}
	return h
}

// join makes c a follower of h. It reports false if h takes no more followers.
func (c *timeoutContext) join(h *hub) bool {
	c.hub = h // before h can call cancel
	if h.add(&c.place) {
		return true
	}
	c.hub = nil
	return false
}

// end is called when the parent ends.
func (h *hub) end() {
	h.close()
	hubSlotOf(parentID(h.done)).hub.CompareAndSwap(h, nil)
	h.tell()
}

// retire stops the AfterFunc of h when its last follower leaves.
func (h *hub) retire() {
	if h.close() {
		h.unhook()
	}
}

// close lets no more contexts join h. It reports whether h has no followers.
func (h *hub) close() (empty bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	return h.first == nil
}

// leave removes f.
func (h *hub) leave(f *follower) {
	h.mu.Lock()
	h.unlink(f)
	last := h.over && h.first == nil
	h.mu.Unlock()
	if last {
		h.unhook()
	}
}
