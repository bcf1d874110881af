package hierarchy

import (
	"sync"
	"sync/atomic"
)

// affinity is a number that tends to stay the same for calls made on the same
// processor and to differ between processors, so that each finds the lock and
// the memory of its shard in its own cache. A sync.Pool keeps what is put in it
// with the processor, which is all that is needed here; a token that is lost to
// the garbage collector, or moves with a goroutine, costs speed only.
func affinity() int {
	t := tokens.Get().(*token)
	tokens.Put(t)
	return t.number
}

type token struct{ number int }

var (
	tokens = sync.Pool{New: func() any { return &token{int(issued.Add(1))} }}
	issued atomic.Int32
)
