package hierarchy

import (
	"sync"
	"sync/atomic"
)

// A token tends to stay with one processor: a sync.Pool keeps what is put in it
// with the processor that put it. Its number says which shards that processor
// should use, of any wheel, so that it finds their locks and memory in its own
// cache. A token that is lost to the garbage collector, or moves with a
// goroutine, costs speed only.
type token struct{ number int }

var (
	tokens = sync.Pool{New: func() any { return &token{int(issued.Add(1))} }}
	issued atomic.Int32
)

const (
	// sampleEvery is after how many timers it is looked whether the processor is
	// still the same.
	sampleEvery = 64
	// enoughChanges of the processor in a short time make a wheel use all its
	// shards. Until then it uses one, and pays nothing for affinity, which costs
	// as much as a lock.
	enoughChanges = 32
)

// usage watches which processors use a wheel.
type usage struct {
	last    *token
	changes int
}

// sample notes the processor that runs, and sets spread when it has changed too
// often: 2 points for a change, less 1 for none.
func (u *usage) sample(spread *atomic.Bool) {
	t := tokens.Get().(*token)
	tokens.Put(t)
	if t == u.last {
		u.changes = max(0, u.changes-1)
		return
	}
	u.last = t
	if u.changes += 2; u.changes >= enoughChanges {
		spread.Store(true)
	}
}
