package hashwheel

import (
	"encoding/binary"
	"io"

	"github.com/nats-io/nats-server/v2/server/thw"
)

// The format is the format of thw, so thw and this package can read each other's output.
const (
	version   = 1
	headerLen = 17 // the version, the number of entries and the stamp
)

// Encode returns all entries and highSeq in thw's format.
func (hw *HashWheel) Encode(highSeq uint64) []byte {
	b := make([]byte, 0, headerLen+hw.driven.Len()*2*binary.MaxVarintLen64)
	b = append(b, version)
	b = binary.LittleEndian.AppendUint64(b, uint64(hw.driven.Len()))
	b = binary.LittleEndian.AppendUint64(b, highSeq)
	for seq, due := range hw.driven.All() {
		b = binary.AppendVarint(b, int64(due))
		b = binary.AppendUvarint(b, seq)
	}
	return b
}

// Decode replaces all entries by the entries in b, and returns the highSeq that was encoded with them.
func (hw *HashWheel) Decode(b []byte) (uint64, error) {
	if len(b) < headerLen {
		return 0, io.ErrShortBuffer
	}
	if b[0] != version {
		return 0, thw.ErrInvalidVersion
	}
	*hw = *NewHashWheel()
	count, stamp := binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint64(b[9:])
	b = b[headerLen:]
	for range count {
		expires, n := binary.Varint(b)
		if n <= 0 {
			return 0, io.ErrUnexpectedEOF
		}
		b = b[n:]
		seq, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, io.ErrUnexpectedEOF
		}
		b = b[n:]
		hw.set(seq, expires)
	}
	return stamp, nil
}
