package hierarchy

import (
	"context"
	"reflect"
	"sync/atomic"
)

// hub is one AfterFunc on a parent for all contexts below it: registering each of
// them would cost as much as its timer does.
//
// A parent gets one when several contexts in a row were made below it, as a
// service's own context does and a request's does not. It keeps it, with nobody
// below, until another parent takes its slot or it ends itself.
type hub struct {
	followers
	parent context.Context // immutable, as all below; of package context, without values
	done   <-chan struct{} // its Done
	kin    *timeoutContext // the nearest of ours above it, or nil
	unhook func() bool
}

// hubSlot is where the hub of a parent is found.
type hubSlot struct {
	hub  atomic.Pointer[hub]
	last atomic.Uintptr // the parent met last
	row  atomic.Int32   // how often it was met in a row
	_    [40]byte       // slots are used by different processors
}

// hubAfter is how many contexts are made below a parent before it gets a hub.
const hubAfter = 3

var hubSlots [16]hubSlot

// parentID tells parents apart, by their Done. It keeps none of them alive: one
// that comes after another at the same place gets its hub a little sooner.
func parentID(done <-chan struct{}) uintptr { return reflect.ValueOf(done).Pointer() }

func hubSlotOf(id uintptr) *hubSlot { return &hubSlots[id/64%uintptr(len(hubSlots))] }

// find is the hub of the parent with that Done, or nil.
func (s *hubSlot) find(done <-chan struct{}) *hub {
	if h := s.hub.Load(); h != nil && h.done == done {
		return h
	}
	return nil
}

// meet counts a context made below parent. It returns a hub, if it is time for one.
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
		s.hub.CompareAndSwap(h, nil) // end may have come before
	}
	return h
}

// join has h tell c of its parent's end. It is false if h does so no more.
func (c *timeoutContext) join(h *hub) bool {
	c.hub = h // before h can tell
	if h.add(&c.place) {
		return true
	}
	c.hub = nil
	return false
}

// end is called when the parent has ended.
func (h *hub) end() {
	h.close()
	hubSlotOf(parentID(h.done)).hub.CompareAndSwap(h, nil)
	h.tell()
}

// retire has h end with the last below it.
func (h *hub) retire() {
	if h.close() {
		h.unhook()
	}
}

// close lets nobody join any more. It tells whether nobody is left.
func (h *hub) close() (empty bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	return h.first == nil
}

// leave takes f out.
func (h *hub) leave(f *follower) {
	h.mu.Lock()
	h.unlink(f)
	last := h.over && h.first == nil
	h.mu.Unlock()
	if last {
		h.unhook()
	}
}
