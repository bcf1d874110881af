package frame

import (
	"encoding/binary"
)

// Builder makes frames, one after the other, in memory that it uses again. The zero Builder is
// ready for Start.
type Builder struct {
	header Header
	b      []byte
	count  int
}

// Start begins a frame. Previous may be set until Finish.
func (w *Builder) Start(h Header) {
	w.header, w.count = h, 0
	if cap(w.b) < headerSize {
		w.b = make([]byte, headerSize, 4096)
	}
	w.b = w.b[:headerSize]
}

// Header is that of the frame being made. It may be changed until Finish, but for Number, Owner
// and Time, on which operations depend.
func (w *Builder) Header() *Header { return &w.header }

// Len returns the number of operations so far.
func (w *Builder) Len() int { return w.count }

// Size returns the size of the frame, if it ended now.
func (w *Builder) Size() int { return len(w.b) + trailerSize }

// Finish ends the frame and returns its bytes and checksum. They stay until the next Start.
func (w *Builder) Finish() (b []byte, sum uint32) {
	w.header.put(w.b, w.count, len(w.b)-headerSize)
	sum = Checksum(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, sum)
	return w.b, sum
}

// Add appends an operation and returns the ID of its timer: a new one for Set, SetAt, Move and Next,
// whose ID is not looked at, else op.ID. It panics if the frame has maxOps operations. A frame of version 1
// has nothing of More, and no Next, Start or Expire: Add panics for these.
func (w *Builder) Add(op *Op) ID {
	if w.count >= maxOps {
		panic("frame: Add to a full frame")
	}
	id := op.ID
	if op.Kind.renews() {
		id = w.header.newID(w.count)
	}
	w.count++
	if w.header.version() >= 2 && op.hasMore() {
		w.b = append(w.b, byte(op.Kind)|moreBit)
		w.fields(op)
		w.more(op)
		return id
	}
	w.b = append(w.b, byte(op.Kind))
	w.fields(op)
	return id
}

// fields appends what an operation has after its kind.
func (w *Builder) fields(op *Op) {
	switch op.Kind {
	case Set, SetAt:
		w.time(op.Due)
		w.bytes(op.Key)
		w.bytes(op.Value)
	case Move:
		w.time(op.Due)
		w.bytes(op.Key)
	case Remove:
		w.bytes(op.Key)
	case End:
		w.number(op.ID)
		w.bytes(op.Key)
	case Revive:
		w.number(op.ID)
		w.time(op.Due)
		w.bytes(op.Key)
	case Begin, Die:
		w.attempt(op)
		w.bytes(op.Key)
	case Fail:
		w.attempt(op)
		w.time(op.Next)
		w.bytes(op.Key)
	case Keep:
		w.keep(op)
	case Takeover:
		w.bytes(op.Text)
	case Close:
	case Request:
		w.request(op)
	default:
		w.newer(op)
	}
}

// newer appends the fields of what is not in version 1.
func (w *Builder) newer(op *Op) {
	if op.Kind < version2 || op.Kind >= kinds || w.header.version() < 2 {
		panic("frame: Add of " + op.Kind.String())
	}
	switch op.Kind {
	case Import:
		w.keep(op)
		return
	case Next:
		w.b = append(w.b, byte(op.How))
		w.number(ID{Number: op.Ended})
		w.time(op.Due)
	case Start, Expire:
		w.number(op.ID)
	}
	w.bytes(op.Key)
}

// time appends a time, as the distance from that of the frame.
func (w *Builder) time(t int64) { w.b = binary.AppendVarint(w.b, t-w.header.Time) }

// number appends the number of an ID, as the distance to the next frame's. So the numbers of
// timers that were set a short time ago are short. That of an ID of another log wraps around.
func (w *Builder) number(id ID) {
	w.b = binary.AppendUvarint(w.b, (w.header.Number+1)<<placeBits-id.Number)
}

func (w *Builder) attempt(op *Op) {
	w.b = binary.AppendUvarint(w.b, uint64(op.Attempt))
	w.number(op.ID)
}

func (w *Builder) bytes(b []byte) {
	w.b = binary.AppendUvarint(w.b, uint64(len(b)))
	w.b = append(w.b, b...)
}

const (
	keepState = 0x0f // the bits of the state
	keepWall  = 0x10
)

func (w *Builder) keep(op *Op) {
	flags := byte(op.State)
	if op.Wall {
		flags |= keepWall
	}
	w.b = append(w.b, flags)
	w.b = binary.LittleEndian.AppendUint64(w.b, op.ID.Owner)
	w.number(op.ID)
	w.time(op.Due)
	w.b = binary.AppendUvarint(w.b, uint64(op.Attempt))
	if op.Attempt > 0 {
		w.time(op.Next)
	}
	w.bytes(op.Key)
	w.bytes(op.Value)
}

func (w *Builder) request(op *Op) {
	w.b = binary.LittleEndian.AppendUint64(w.b, op.Caller)
	w.b = binary.AppendUvarint(w.b, op.Serial)
	w.b = binary.AppendUvarint(w.b, op.Serial-op.Floor)
	w.time(op.When)
	w.bytes(op.Answers)
}
