package core

import (
	"bytes"
	"hash/maphash"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// draft is the frame that is being made. What goes into it is decided by the state and by what the frame already holds.
type draft struct {
	frame.Builder
	Deaths  []Death
	limits  Limits
	seed    maphash.Seed
	touched map[uint64]int // by the hash of a key: the index of its last change in changes
	changes []change
	owns    map[int]uint64            // by the index of an operation: its Op.By or the name of its Ending
	answers map[state.Request]drafted // the answers that the frame holds
	floors  map[uint64]uint64         // by caller: the highest floor in the frame
	latest  map[uint64]uint64         // by caller: the highest serial number in the frame
	room    []byte                    // a buffer for encoding an answer, or what trimming writes again
	values  []string                  // a buffer for what the operations of a part return
	pending int                       // the number of timers that are pending once the frame is applied
	now     int64                     // the owner's time. The frame's time may be later
	wall    int64                     // the wall time
}

// Limits are what the log takes now.
type Limits struct {
	Message int   // the largest number of bytes of a frame
	Log     int64 // the largest number of bytes of the log; 0 if there is no limit
}

// Start begins the frame that follows the last one of the log. now is the owner's time.
func (o *Owner) Start(now, wall int64, l Limits) {
	h := o.Head.Next()
	h.Time = max(h.Time, now)
	o.draft.Start(h)
	o.now, o.wall, o.limits = now, wall, l
	if o.taken = o.portion; o.taken != nil {
		o.whole = *o.taken
	}
	clear(o.claims)
	clear(o.touched)
	clear(o.owns)
	clear(o.answers)
	clear(o.floors)
	clear(o.latest)
	clear(o.changes)
	o.changes = o.changes[:0]
	clear(o.Deaths)
	o.Deaths = o.Deaths[:0]
	o.pending = o.State.Len()
}

// look returns the state that a key will have once the frame is committed, and the hash of the key.
func (o *Owner) look(key []byte) (change, uint64) {
	hash := maphash.Bytes(o.seed, key)
	if i, ok := o.touched[hash]; ok {
		for ; i >= 0; i-- { // two keys seldom have the same hash
			if bytes.Equal(o.changes[i].key, key) {
				return o.changes[i], hash
			}
		}
	}
	t, ref, ok := o.State.Find(key)
	if !ok {
		return change{key: key}, hash
	}
	c := change{key: key, value: t.Value, after: live, id: t.ID, due: t.Due, wall: t.Wall, attempt: t.Attempt,
		extra: t.Extra, ref: ref}
	if t.Dead {
		c.after = dead
	}
	return c, hash
}

// note records the state of a key after an operation that was added.
func (o *Owner) note(hash uint64, was after, c change) {
	o.pending += sum(was, c.after)
	o.touched[hash] = len(o.changes)
	o.changes = append(o.changes, c)
}

// Call adds those operations of c that change something. If it returns an error, it has added no operation.
func (o *Owner) Call(c *Call) error {
	if c.Request.named() {
		return o.named(c)
	}
	if refused(c.Ops) {
		return ErrSchedule
	}
	c.place, c.Time = o.Len(), o.Header().Time
	var ok bool
	if c.Values, ok = o.addOps(c.Ops, c.Took, o.MaxPending, c.Values[:0]); !ok {
		return ErrFull
	}
	return nil
}

// addOps adds the operations that change something, and appends to values what they return to their caller. If more
// than limit timers would then be pending, it adds none and reports false.
func (o *Owner) addOps(ops []Op, took []bool, limit int, values []string) (removed []string, ok bool) {
	if limit > 0 && o.pending+len(ops) > limit { // otherwise the limit can't be exceeded
		if n := o.more(ops); n > 0 && o.pending+n > limit {
			return values, false
		}
	}
	for i := range ops {
		took[i] = o.addOp(&ops[i], &values)
	}
	return values, true
}

// becomes returns the state of a key after an operation, without the new ID, and whether the operation changes the key
// at all.
func (o *Owner) becomes(a *Op, was change) (now change, took bool) {
	now = change{key: a.Key, value: was.value, raw: was.raw, after: live, id: was.id, due: a.Due, extra: was.extra}
	switch a.Kind {
	case frame.End: // see end
	case frame.Set, frame.SetAt:
		now.value, now.raw, now.wall = "", a.Value, a.Kind == frame.SetAt
		now.extra = state.Extra{Schedule: string(a.Schedule), Trace: string(a.Trace)}
		now.extra.Paused = len(a.Schedule) > 0 && was.after == live && was.extra.Paused
		if a.isDebounced() {
			o.debounce(a, &was, &now)
		}
		took = o.holds(a, &was)
	case frame.Move, frame.MoveAt:
		now.wall = a.Kind == frame.MoveAt
		now.extra.Move()
		took = was.after == live
	case frame.Pause, frame.Resume:
		return o.pauses(a, was)
	case frame.Remove:
		now = change{key: a.Key}
		took = was.after != absent
	case frame.Import:
		now, took = imported(a), true
	case frame.Revive:
		now.due = o.now
		now.extra.Forgive()
		took = was.after == dead
	default:
		panic("partition: a call requests " + a.Kind.String())
	}
	if !took {
		return was, false
	}
	return now, true
}

// addOp adds one operation if it changes its key, and appends what it returns to its caller to values.
func (o *Owner) addOp(a *Op, values *[]string) bool {
	if a.Kind == frame.End {
		return o.end(a)
	}
	was, hash := o.look(a.Key)
	now, took := o.becomes(a, was)
	if a.returns(took) {
		*values = append(*values, o.returned(a, &was, took))
	}
	if !took {
		return false
	}
	op := frame.Op{Kind: a.Kind, Key: a.Key, Due: a.Due, More: frame.More{Schedule: a.Schedule, Trace: a.Trace}}
	switch a.Kind {
	case frame.Import:
		op = importOf(a, &now)
	case frame.Set, frame.SetAt:
		op.Value = a.Value
		a.Due, op.Due, op.Debounced, op.Since = now.due, now.due, now.extra.Debounced, now.extra.Since
		op.Paused = now.extra.Paused
	case frame.Pause, frame.Resume:
		op = pauseOf(a, &was, &now)
	case frame.Revive:
		op.ID, op.Due = was.id, o.now
	}
	o.own(a.By)
	now.id = o.Add(&op)
	o.note(hash, was.after, now)
	return true
}

// own records which attempt, if any, requests the next operation of the frame.
func (o *Owner) own(by uint64) {
	if by == 0 {
		return
	}
	if o.owns == nil {
		o.owns = make(map[int]uint64)
	}
	o.owns[o.Len()] = by
}
