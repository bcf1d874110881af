package cores

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// item is what is written: a call or an event.
type item struct {
	call  *call
	event core.Event
	what  *result // the event for the model
	close bool
}

// batch is a frame, and what it is for the model.
type batch struct {
	by        *worker
	now, wall int64
	latest    int64  // the wall time by the furthest setting
	owned     int64  // the wall time of the takeover
	begin     uint64 // where the log began at the takeover
	items     []item
	data      []byte
	last      uint64 // the number of the frame before
	most      int    // the size of a message
	log       int64  // the size of the log
	takeover  bool
	replaced  bool     // nothing of it is written, and its owner is replaced without knowing it
	begun     []string // the keys of timers whose attempts ended with the last owner

	attempts map[frame.ID]*core.Attempt // those in progress when it was made
	called   map[frame.ID]bool          // whether their handlers were called
	tokens   map[uint64]bool            // by name: whether they have tokens
	before   map[frame.ID]entry         // the timers whose attempts it begins, before that
	paused   map[frame.ID]bool          // the timers that it has paused
	passed   map[frame.ID]bool          // those whose attempt that was left it ends, or whose run it skips
	elapsed  map[frame.ID]entry         // those that it has paused, as they were before
	written  map[uint64]bool            // by the number of the ID: those of which it has the begin
	changes  []core.Op                  // the operations that it has committed
}

func (o *worker) newBatch() *batch {
	return &batch{by: o, now: o.time(), wall: o.wall(), owned: o.owned, begin: o.begin, last: o.core.Head.End, most: o.message,
		log: o.log.most}
}

// compose makes a frame of what is in the queue.
func (o *worker) compose() *batch {
	b := o.newBatch()
	b.note(o)
	o.core.Start(b.now, b.wall, core.Limits{Message: o.message, Log: o.log.most})
	o.turn = !o.turn && o.core.Hurried()
	alone := o.turn || len(o.queue) == 0
	if o.keep(alone); !alone || o.core.Len() == 0 {
		o.fill(b)
	}
	return b
}

// add adds an item to a frame.
func (o *worker) add(b *batch, it item) {
	switch {
	case it.close:
		o.core.Add(&frame.Op{Kind: frame.Close})
	case it.call != nil:
		if err := o.core.Call(it.call.Call); err != nil {
			o.model.refused(b, it.call, err)
			it.call.answered(err)
			return
		}
		it.call.err = it.call.Answer(o.core.Header())
	default:
		it.what.took = o.core.Record(&it.event)
	}
	b.items = append(b.items, it)
}

// fill adds what waits to a frame, as long as it has room.
func (o *worker) fill(b *batch) {
	for i := range o.queue {
		it := &o.queue[i]
		if o.core.Len() > 0 && !o.core.HasRoomFor(it.request(), &it.event) {
			o.queue = o.queue[i:]
			return
		}
		o.add(b, *it)
	}
	o.queue = nil
}

func (it *item) request() *core.Call {
	if it.call == nil {
		return nil
	}
	return it.call.Call
}

// keep adds what trimming writes again to a frame.
func (o *worker) keep(alone bool) {
	if _, err := o.core.Keep(alone); err != nil {
		if !o.lowered {
			o.fail("trimming: %v", err)
		}
		o.core.GiveUp()
	}
}
