// Package frame defines the format of the messages of a log. FORMAT.md, next to the module's go.mod, describes the
// bytes. The package deals only with bytes: it has no log, no clock and no timers.
package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

const (
	// Version is the version of the format.
	Version = 1
	// maxOps is the largest number of operations of a frame. The number of a timer's ID has twelve bits for the place
	// of its operation in the frame.
	maxOps = 1<<placeBits - 1

	placeBits   = 12
	headerSize  = 64
	trailerSize = 4
	// Overhead is the size of a frame without operations.
	Overhead = headerSize + trailerSize
)

// The errors of Parse and Ops. They are wrapped with a description.
var (
	errDamaged = errors.New("the frame is damaged")
	ErrVersion = errors.New("the frame has another format")
)

// Header has the fields of a frame other than its operations.
type Header struct {
	Number     uint64 // the number of the frame's message in the log, from 1
	Epoch      uint64 // the number of the owner's takeover
	Owner      uint64 // the random number of that takeover
	Begin      uint64 // the log must have all frames from this number on
	Time       int64  // nanoseconds since the Unix epoch. It never goes back in a log
	Previous   uint32 // the checksum of the frame before, 0 in the first frame of a log
	Partition  uint16 // the partition of this log
	Partitions uint16 // the number of partitions of the set
}

// ID identifies a timer. Number is unique in the log: it consists of the frame's number and the place of the operation
// in the frame. Owner makes the ID unique among copies of the log.
type ID struct{ Owner, Number uint64 }

// NewID returns the ID of the timer that the operation at that place of the frame sets.
func (h *Header) NewID(place int) ID {
	return ID{h.Owner, h.Number<<placeBits | uint64(place)}
}

// The offsets of the header's fields.
const (
	atVersion    = 4
	atReserved   = 5 // one byte, 0
	atCount      = 6
	atLength     = 8
	atPrevious   = 12
	atNumber     = 16
	atEpoch      = 24
	atOwner      = 32
	atTime       = 40
	atBegin      = 48
	atPartition  = 56
	atPartitions = 58
	atZero       = 60 // four bytes, 0
)

var magic = [4]byte{'E', 'p', 'i', 'F'}

// put writes the header of a frame with count operations in length bytes.
func (h *Header) put(b []byte, count, length int) {
	le := binary.LittleEndian
	copy(b, magic[:])
	b[atVersion], b[atReserved] = Version, 0
	le.PutUint16(b[atCount:], uint16(count))
	le.PutUint32(b[atLength:], uint32(length))
	le.PutUint32(b[atPrevious:], h.Previous)
	le.PutUint64(b[atNumber:], h.Number)
	le.PutUint64(b[atEpoch:], h.Epoch)
	le.PutUint64(b[atOwner:], h.Owner)
	le.PutUint64(b[atTime:], uint64(h.Time))
	le.PutUint64(b[atBegin:], h.Begin)
	le.PutUint16(b[atPartition:], h.Partition)
	le.PutUint16(b[atPartitions:], h.Partitions)
	le.PutUint32(b[atZero:], 0)
}

// Frame is a frame that was parsed. It shares the memory that was passed to Parse.
type Frame struct {
	Header
	Count    int    // the number of operations
	Checksum uint32 // the checksum of this frame
	Size     int    // the size of the whole frame in bytes
	body     []byte
}

// otherVersion returns the error for a frame that has another version. If the frame would be valid with this version,
// its version was altered, since no program writes such a frame. A frame of a later version may have its checksum in
// another place.
func otherVersion(b []byte) error {
	if end := len(b) - trailerSize; end >= headerSize {
		this := bytes.Clone(b[:end])
		this[atVersion] = Version
		if Checksum(this) == binary.LittleEndian.Uint32(b[end:]) {
			return fmt.Errorf("%w: its version is %d, and its checksum that of version %d", errDamaged, b[atVersion], Version)
		}
	}
	return fmt.Errorf("%w: version %d instead of %d", ErrVersion, b[atVersion], Version)
}

// Parse checks b, which must be one whole frame, and parses its header. Ops parses and checks the operations.
func Parse(b []byte) (f Frame, err error) {
	le := binary.LittleEndian
	switch {
	case len(b) <= atVersion:
		return f, fmt.Errorf("%w: %d bytes are less than a header", errDamaged, len(b))
	case [4]byte(b) != magic:
		return f, fmt.Errorf("%w: it does not begin with %q", errDamaged, magic)
	case b[atVersion] != Version:
		return f, otherVersion(b)
	case len(b) < Overhead:
		return f, fmt.Errorf("%w: %d bytes are less than a header", errDamaged, len(b))
	}
	end := len(b) - trailerSize
	f.Checksum = le.Uint32(b[end:])
	if sum := Checksum(b[:end]); sum != f.Checksum {
		return f, fmt.Errorf("%w: its checksum is %08x, not %08x", errDamaged, sum, f.Checksum)
	}
	length := int(le.Uint32(b[atLength:]))
	if length != end-headerSize || b[atReserved] != 0 || le.Uint32(b[atZero:]) != 0 {
		return f, fmt.Errorf("%w: its header does not fit its %d bytes", errDamaged, len(b))
	}
	f.Header = Header{
		Number: le.Uint64(b[atNumber:]), Epoch: le.Uint64(b[atEpoch:]), Owner: le.Uint64(b[atOwner:]),
		Begin: le.Uint64(b[atBegin:]), Time: int64(le.Uint64(b[atTime:])),
		Previous:  le.Uint32(b[atPrevious:]),
		Partition: le.Uint16(b[atPartition:]), Partitions: le.Uint16(b[atPartitions:]),
	}
	f.Count, f.Size, f.body = int(le.Uint16(b[atCount:])), len(b), b[headerSize:end]
	if f.Count > maxOps {
		return f, fmt.Errorf("%w: it says that it has %d operations", errDamaged, f.Count)
	}
	return f, nil
}

// Ops returns an iterator over the operations, in order. It yields the same Op each time, whose byte slices share the
// frame's memory. An error ends the iteration.
func (f *Frame) Ops() iter.Seq2[*Op, error] {
	return func(yield func(*Op, error) bool) {
		var op Op
		c := coder{Reader: Reader{B: f.body}, header: &f.Header}
		for place := range f.Count {
			op = Op{}
			if c.op(&op, place); c.Failed {
				yield(nil, fmt.Errorf("%w: operation %d can't be read", errDamaged, place))
				return
			}
			if !yield(&op, nil) {
				return
			}
		}
		if len(c.B) > 0 {
			yield(nil, fmt.Errorf("%w: %d bytes follow the last operation", errDamaged, len(c.B)))
		}
	}
}
