package frame

import (
	"encoding/binary"
	"hash/crc32"
)

// The elements of frames, marks and messages: fixed-size numbers in little-endian order, other numbers as varints, byte
// strings after their length, and a checksum.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C (Castagnoli) of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Reader reads from the beginning of B. After a failure it reads zeros.
type Reader struct {
	B      []byte // the bytes that are left
	Failed bool
}

// Fail marks what was read as invalid.
func (r *Reader) Fail() { r.Failed, r.B = true, nil }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.B) == 0 {
		r.Fail()
		return 0
	}
	v := r.B[0]
	r.B = r.B[1:]
	return v
}

// Fixed reads eight bytes.
func (r *Reader) Fixed() uint64 {
	if len(r.B) < 8 {
		r.Fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(r.B)
	r.B = r.B[8:]
	return v
}

// Uvarint reads a number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bytes reads a byte string, which shares the memory of B.
func (r *Reader) Bytes() []byte {
	n := r.Uvarint()
	if n > uint64(len(r.B)) {
		r.Fail()
		return nil
	}
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// Count reads the number of elements that follow. Each element takes at least the number of bytes in each.
func (r *Reader) Count(each int) int {
	n := r.Uvarint()
	if n > uint64(len(r.B)/each) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Ended reports whether everything was read successfully.
func (r *Reader) Ended() bool { return !r.Failed && len(r.B) == 0 }

// AppendBytes appends a byte string as Bytes reads it.
func AppendBytes[T string | []byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
