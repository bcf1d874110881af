package frame

import "encoding/binary"

// Builder makes frames, one after the other, in memory that it reuses. The zero Builder is ready for Start.
type Builder struct {
	header Header
	coder  coder
	count  int
}

// Start begins a frame. Previous may be set until Finish.
func (w *Builder) Start(h Header) {
	w.header, w.count = h, 0
	w.coder.writing, w.coder.header = true, &w.header
	if w.coder.out == nil {
		w.coder.out = make([]byte, headerSize, 4096)
	}
	w.coder.out = w.coder.out[:headerSize]
}

// Header returns the header of the frame that is being made. It may be changed until Finish, except for Number, Owner
// and Time, on which operations depend.
func (w *Builder) Header() *Header { return &w.header }

// Len returns the number of operations so far.
func (w *Builder) Len() int { return w.count }

// Size returns the size that the frame would have if it ended now.
func (w *Builder) Size() int { return len(w.coder.out) + trailerSize }

// Finish ends the frame and returns its bytes and checksum. The bytes are valid until the next Start.
func (w *Builder) Finish() (b []byte, sum uint32) {
	b = w.coder.out
	w.header.put(b, w.count, len(b)-headerSize)
	sum = Checksum(b)
	w.coder.out = binary.LittleEndian.AppendUint32(b, sum)
	return w.coder.out, sum
}

// Add appends an operation and returns the ID of its timer: for Set, SetAt, Move, MoveAt, Next and a Resume that is Moved a new one, whatever
// op.ID is, otherwise op.ID. Add panics if the frame has maxOps operations, or if there is no such operation.
func (w *Builder) Add(op *Op) ID {
	if w.count >= maxOps {
		panic("frame: Add to a full frame")
	}
	if !op.Kind.isKnown() {
		panic("frame: Add of " + op.Kind.String())
	}
	id := op.ID
	if op.renews() {
		id = w.header.NewID(w.count)
	}
	w.coder.op(op, w.count)
	w.count++
	return id
}
