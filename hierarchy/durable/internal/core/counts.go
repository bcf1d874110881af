package core

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// Counts has the numbers of operations and events since Open.
type Counts struct {
	Set, Moved, Removed, Fired, Failed uint64
	Frames, Bytes                      uint64
	Trimmed                            uint64 // timers that were written again
	Died                               uint64 // timers, and runs of schedules, whose last attempt failed
	Expired                            uint64 // dead timers that were removed
}

// add counts an operation.
func (c *Counts) add(op *frame.Op) {
	switch op.Kind {
	case frame.Set, frame.SetAt, frame.Import:
		c.Set++
	case frame.Move, frame.MoveAt:
		c.Moved++
	case frame.Remove:
		c.Removed++
	case frame.Fail:
		c.Failed++
	case frame.Die:
		c.Failed++
		c.Died++
	case frame.Next:
		if op.How == frame.Died {
			c.Failed++
			c.Died++
		}
	case frame.Expire:
		c.Expired++
	case frame.Keep:
		c.Trimmed++
	}
}
