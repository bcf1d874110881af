package storage

import (
	"encoding/binary"
	"hash/crc32"
)

// Mark identifies the last frame that is known to have been acknowledged.
type Mark struct {
	Number   uint64
	Checksum uint32
}

// MarkSize is the size of an encoded Mark in bytes.
const MarkSize = 16

// Encode returns the encoding of m, which FORMAT.md describes.
func (m Mark) Encode() []byte {
	b := make([]byte, 0, MarkSize)
	b = binary.LittleEndian.AppendUint64(b, m.Number)
	b = binary.LittleEndian.AppendUint32(b, m.Checksum)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// DecodeMark is the inverse of Encode. ok is false if b is not an encoded mark.
func DecodeMark(b []byte) (m Mark, ok bool) {
	if len(b) != MarkSize || checksum(b[:12]) != binary.LittleEndian.Uint32(b[12:]) {
		return m, false
	}
	return Mark{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])}, true
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
