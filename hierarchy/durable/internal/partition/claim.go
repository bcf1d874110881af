package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A caller that removes a timer may need to know whether the timer's handler was called. The answer may be part of the
// frame, so it is decided when the frame is made. If the handler has not been called by then, it is not called until
// the outcome of the frame is known.

// Claim implements core.Attempts. The handler may have returned since it was called.
func (f *firer) Claim(ref state.Ref, id frame.ID) (called bool) {
	f.mu.assertHeld()
	if f.core.State.IsRunning(ref, id) {
		if a := f.attempts[ref]; a == nil || a.called {
			return true
		}
	}
	if f.claims == nil {
		f.claims = make(map[frame.ID]struct{})
	}
	f.claims[id] = struct{}{}
	return false
}

func (f *firer) isClaimed(id frame.ID) bool {
	_, ok := f.claims[id]
	return ok
}

// unclaim ends all claims, and wakes the handlers that wait for the end of a claim. It is called when a frame was
// applied, and when a new one is begun.
func (f *firer) unclaim() {
	f.mu.assertHeld()
	clear(f.claims)
	f.settled.Broadcast()
}
