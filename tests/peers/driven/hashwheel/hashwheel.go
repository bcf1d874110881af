// Package hashwheel gives a hierarchy.Driven the API of NATS's thw.HashWheel
// (github.com/nats-io/nats-server/v2/server/thw), by which its streams expire messages.
//
// thw finds an entry by its sequence and its expiry. A Driven finds it by its Handle. To
// have the same methods, HashWheel keeps a map from sequences to handles. A store that
// adopts Driven does not need that map:
//
//   - A store with a record of each message in memory keeps the Handle in the record, where
//     it takes 16 bytes, and calls Set, Move and Remove of a Driven[uint64] itself.
//   - A store whose messages are on disk keeps nothing. It never removes a timer: when one
//     expires, it looks up the message, as NATS does anyway, and finds that it is gone. The
//     timer of a message that was deleted early stays until then.
package hashwheel

import (
	"math"
	"time"

	"github.com/nats-io/nats-server/v2/server/thw"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// HashWheel has the methods of a thw.HashWheel. Times are nanoseconds since the Unix epoch.
type HashWheel struct {
	driven hierarchy.Driven[uint64]

	// handles has the Handle of each sequence that is pending, or that ExpireTasks is offering. A sequence that is
	// being offered is no longer in driven.
	handles map[uint64]hierarchy.Handle
}

// NewHashWheel returns an empty HashWheel.
func NewHashWheel() *HashWheel {
	hw := &HashWheel{handles: make(map[uint64]hierarchy.Handle)}
	// A Driven begins at time 0. Without this call, all entries would go into one slot, and the first Expire would take
	// several times as long.
	hw.ExpireTasksAt(time.Now().UnixNano(), nil)
	return hw
}

// Add sets the expiry of seq. The error is always nil.
func (hw *HashWheel) Add(seq uint64, expires int64) error {
	hw.set(seq, expires)
	return nil
}

func (hw *HashWheel) set(seq uint64, expires int64) {
	if h, ok := hw.handles[seq]; !ok || !hw.driven.Move(h, time.Duration(expires)) {
		hw.handles[seq] = hw.driven.Set(seq, time.Duration(expires))
	}
}

// Remove removes seq, whose expiry must be expires.
func (hw *HashWheel) Remove(seq uint64, expires int64) error {
	h, ok := hw.find(seq, expires)
	if !ok {
		return thw.ErrTaskNotFound
	}
	hw.driven.Remove(h)
	delete(hw.handles, seq)
	return nil
}

// Update changes the expiry of seq.
func (hw *HashWheel) Update(seq uint64, oldExpires, newExpires int64) error {
	if _, ok := hw.find(seq, oldExpires); !ok {
		return thw.ErrTaskNotFound
	}
	hw.set(seq, newExpires)
	return nil
}

// find returns the Handle of seq if seq expires at the time expires, or if it is being offered.
func (hw *HashWheel) find(seq uint64, expires int64) (h hierarchy.Handle, ok bool) {
	if h, ok = hw.handles[seq]; !ok {
		return h, false
	}
	_, due, pending := hw.driven.Get(h)
	return h, !pending || int64(due) == expires
}

// ExpireTasks offers all entries that have expired to callback, in order of their expiry. An entry stays if callback
// returns false, and the next call offers it again.
func (hw *HashWheel) ExpireTasks(callback func(seq uint64, expires int64) bool) {
	hw.ExpireTasksAt(time.Now().UnixNano(), callback)
}

// offered is an entry that was passed to callback and that callback has not accepted.
type offered struct {
	seq     uint64
	expires int64
	handle  hierarchy.Handle // Handle of a timer that has expired, so it identifies nothing
}

// ExpireTasksAt is ExpireTasks for callers who know the time. thw has no such method.
//
// An entry that callback declines, or panics on, is put back after the loop. Inside the loop it would be offered again
// at once, because it has expired.
func (hw *HashWheel) ExpireTasksAt(now int64, callback func(seq uint64, expires int64) bool) {
	var declined []offered
	defer func() { hw.putBack(declined) }()
	for seq, due := range hw.driven.Expire(time.Duration(now)) {
		o := offered{seq, int64(due), hw.handles[seq]}
		declined = append(declined, o)
		if callback(seq, o.expires) {
			declined = declined[:len(declined)-1]
			if hw.handles[seq] == o.handle { // callback has not added it again
				delete(hw.handles, seq)
			}
		}
	}
}

// putBack sets the declined entries again, except the entries that callback has removed or added again.
func (hw *HashWheel) putBack(declined []offered) {
	for _, o := range declined {
		if h, ok := hw.handles[o.seq]; ok && h == o.handle {
			hw.set(o.seq, o.expires)
		}
	}
}

// GetNextExpiration returns the earliest expiry if it is before the time before, and math.MaxInt64 otherwise.
func (hw *HashWheel) GetNextExpiration(before int64) int64 {
	if due, ok := hw.driven.Next(); ok && int64(due) < before {
		return int64(due)
	}
	return math.MaxInt64
}

// Count returns the number of entries.
func (hw *HashWheel) Count() uint64 { return uint64(len(hw.handles)) }
