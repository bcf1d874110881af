package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Who removes a timer may want to know whether its handler was called. The answer may have to be in the frame with the
// removal, so that is decided when the frame is made. Until it is settled the handlers of such timers are not called.

// claim reports whether the handler of a timer with an attempt under way was called. It may have returned. If not, it
// is not called before the frame that is being made is settled.
func (f *firer) claim(ref state.Ref, id frame.ID) (called bool) {
	f.mu.assertHeld()
	if f.state.IsRunning(ref, id) {
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

// unclaim is called when a frame is settled, or is made anew. It has the handlers go on that wait for that.
func (f *firer) unclaim() {
	f.mu.assertHeld()
	clear(f.claims)
	f.settled.Broadcast()
}
