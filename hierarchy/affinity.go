package hierarchy

import (
	"sync"
	"sync/atomic"
)

// A token tends to stay with one processor, as a sync.Pool keeps what is put into it with
// the processor that put it there. Its number says which shards that processor should use,
// of any wheel, so that it finds their locks and memory in its own cache. If a token is
// garbage collected, or moves with a goroutine, only speed is lost.
type token struct{ number int }

var (
	tokens = sync.Pool{New: func() any { return &token{int(issued.Add(1))} }}
	issued atomic.Int32
)

const (
	// sampleEvery is after how many timers the wheel looks which processor is running.
	sampleEvery = 64
	// enoughChanges is how many changes of the processor in a short time make a wheel use
	// all its shards. Until then it uses one and pays nothing for affinity, which costs as
	// much as a lock.
	enoughChanges = 32
)

// usage watches which processors use a wheel.
type usage struct {
	last    *token
	changes int
}

// sample looks which processor is running, and sets spread when it has changed often
// enough. A change counts 2, and no change takes 1 off.
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
