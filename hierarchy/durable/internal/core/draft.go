package core

import (
	"bytes"
	"hash/maphash"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Draft is the frame that is being made. It decides what goes into the frame, based on the state and on what the frame
// already holds. NewDraft makes one.
type Draft struct {
	Deaths []Death // of timers whose attempts are ended by their tokens
	Alive  int64   // the time of the last frame that is not a takeover
	Owned  int64   // the wall time of the takeover

	attempts Attempts
	frame.Builder
	cfg     *Config
	state   *state.State
	seed    maphash.Seed
	touched map[uint64]int // by the hash of a key: the index of its last change in changes
	changes []change
	owns    map[int]uint64            // by the index of an operation: its Op.By or the name of its Ending
	answers map[state.Request]drafted // the answers that the frame holds
	floors  map[uint64]uint64         // by caller: the highest floor in the frame
	latest  map[uint64]uint64         // by caller: the highest serial number in the frame
	room    []byte                    // a buffer for encoding an answer
	values  []string                  // a buffer for what the operations of a part return
	pending int                       // the number of timers that are pending once the frame is applied
	now     int64                     // the owner's time. The frame's time may be later
	wall    int64                     // the wall time
	most    int                       // the largest number of bytes of a frame that holds more than one call
}

// Start begins a frame. now is the owner's time, and most the largest number of bytes that a frame may have.
func (d *Draft) Start(h frame.Header, now, wall int64, most int) {
	h.Time = max(h.Time, now)
	d.Builder.Start(h)
	d.now, d.wall, d.most = now, wall, min(FrameBytes, most)
	clear(d.touched)
	clear(d.owns)
	clear(d.answers)
	clear(d.floors)
	clear(d.latest)
	clear(d.changes)
	d.changes = d.changes[:0]
	clear(d.Deaths)
	d.Deaths = d.Deaths[:0]
	d.pending = d.state.Len()
}

// Attempts are the attempts in progress.
type Attempts interface {
	Claim(ref state.Ref, id frame.ID) (called bool)
	TokenOf(ref state.Ref) (name uint64, attempt uint32)
}

// NewDraft returns a Draft for an owner.
func NewDraft(cfg *Config, attempts Attempts) Draft {
	return Draft{cfg: cfg, attempts: attempts, seed: maphash.MakeSeed(), touched: make(map[uint64]int)}
}

// SetState replaces the state.
func (d *Draft) SetState(s *state.State) { d.state = s }

// Now returns the owner's time at Start.
func (d *Draft) Now() int64 { return d.now }

// By returns the name of the attempt that has requested the operation with that index in the frame, or that the operation
// ends by its token, or 0.
func (d *Draft) By(i int) uint64 { return d.owns[i] }

// look returns the state that a key will have once the frame is committed, and the hash of the key.
func (d *Draft) look(key []byte) (change, uint64) {
	hash := maphash.Bytes(d.seed, key)
	if i, ok := d.touched[hash]; ok {
		for ; i >= 0; i-- { // two keys seldom have the same hash
			if bytes.Equal(d.changes[i].key, key) {
				return d.changes[i], hash
			}
		}
	}
	t, ref, ok := d.state.Find(key)
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
func (d *Draft) note(hash uint64, was after, c change) {
	d.pending += sum(was, c.after)
	d.touched[hash] = len(d.changes)
	d.changes = append(d.changes, c)
}

// HasRoomFor reports whether the frame has room for another call, or for another event if c is nil.
func (d *Draft) HasRoomFor(c *Call, e *Event) bool {
	if c != nil {
		n, size := d.answerRoom(c)
		return d.hasRoom(n+len(c.Ops), size+c.size)
	}
	n, size := 1, len(e.Job.Key)+OpBytes
	switch e.kind {
	case begun:
		n, size = 2, 2*size
	case failed:
		size += len(e.text)
	}
	return d.hasRoom(n, size)
}

// hasRoom reports whether the frame has room for n operations. The limit leaves room for a call of the largest size and
// its answer.
func (d *Draft) hasRoom(n, size int) bool {
	return d.Len()+n <= MaxOps+1+KeepOps && d.Size()+size <= d.most
}

// Call adds those operations of c that change something. If it returns an error, it has added no operation.
func (d *Draft) Call(c *Call) error {
	if c.Request.named() {
		return d.named(c)
	}
	if refused(c.Ops) {
		return ErrSchedule
	}
	c.place, c.Time = d.Len(), d.Header().Time
	var ok bool
	if c.Values, ok = d.addOps(c.Ops, c.Took, d.cfg.MaxPending, c.Values[:0]); !ok {
		return ErrFull
	}
	return nil
}

// addOps adds the operations that change something, and appends to values what they return to their caller. If more
// than limit timers would then be pending, it adds none and reports false.
func (d *Draft) addOps(ops []Op, took []bool, limit int, values []string) (removed []string, ok bool) {
	if limit > 0 && d.pending+len(ops) > limit { // otherwise the limit can't be exceeded
		if n := d.more(ops); n > 0 && d.pending+n > limit {
			return values, false
		}
	}
	for i := range ops {
		took[i] = d.addOp(&ops[i], &values)
	}
	return values, true
}

// more returns by how much the operations increase the number of pending timers.
func (d *Draft) more(ops []Op) (n int) {
	if len(ops) == 1 {
		was, _ := d.look(ops[0].Key)
		now, _ := d.becomes(&ops[0], was)
		return sum(was.after, now.after)
	}
	here := make(map[string]change, len(ops))
	for i := range ops {
		a := &ops[i]
		was, ok := here[string(a.Key)]
		if !ok {
			was, _ = d.look(a.Key)
		}
		now, _ := d.becomes(a, was)
		here[string(a.Key)] = now
		n += sum(was.after, now.after)
	}
	return n
}

// sum returns by how much the number of pending timers increases when a key changes from was to now: -1, 0 or 1.
func sum(was, now after) (n int) {
	if was == live {
		n--
	}
	if now == live {
		n++
	}
	return n
}

// becomes returns the state of a key after an operation, without the new ID, and whether the operation changes the key
// at all.
func (d *Draft) becomes(a *Op, was change) (now change, took bool) {
	now = change{key: a.Key, value: was.value, raw: was.raw, after: live, id: was.id, due: a.Due, extra: was.extra}
	switch a.Kind {
	case frame.End: // see draft.end
	case frame.Set, frame.SetAt:
		now.value, now.raw, now.wall = "", a.Value, a.Kind == frame.SetAt
		now.extra = state.Extra{Schedule: string(a.Schedule), Trace: string(a.Trace)}
		took = d.holds(a, &was)
	case frame.Move, frame.MoveAt:
		now.wall, now.extra.Started = a.Kind == frame.MoveAt, false
		now.extra.Forgive()
		took = was.after == live
	case frame.Remove:
		now = change{key: a.Key}
		took = was.after != absent
	case frame.Import:
		now, took = imported(a), true
	case frame.Revive:
		now.due = d.now
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
func (d *Draft) addOp(a *Op, values *[]string) bool {
	if a.Kind == frame.End {
		return d.end(a)
	}
	was, hash := d.look(a.Key)
	now, took := d.becomes(a, was)
	if a.returns(took) {
		*values = append(*values, d.returned(a, &was, took))
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
	case frame.Revive:
		op.ID, op.Due = was.id, d.now
	}
	d.own(a.By)
	now.id = d.Add(&op)
	d.note(hash, was.after, now)
	return true
}

// own records which attempt, if any, requests the next operation of the frame.
func (d *Draft) own(by uint64) {
	if by == 0 {
		return
	}
	if d.owns == nil {
		d.owns = make(map[int]uint64)
	}
	d.owns[d.Len()] = by
}
