package filelog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	headerSize = 32
	recordHead = 16
	align      = 8

	segmentMagic   = "EpiS"
	segmentVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the header of a segment.
type header struct {
	incarnation uint64
	base        uint64 // the number of the first message
	size        int64  // of the file
}

func (h header) encode() []byte {
	b := append(make([]byte, 0, headerSize), segmentMagic...)
	b = binary.LittleEndian.AppendUint32(b, segmentVersion)
	b = binary.LittleEndian.AppendUint64(b, h.incarnation)
	b = binary.LittleEndian.AppendUint64(b, h.base)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.size))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeHeader(b []byte) (h header, err error) {
	switch {
	case len(b) < headerSize || string(b[:4]) != segmentMagic,
		crc32.Checksum(b[:28], castagnoli) != binary.LittleEndian.Uint32(b[28:]):
		return h, damaged("its header is not what was written")
	case binary.LittleEndian.Uint32(b[4:]) != segmentVersion:
		return h, fmt.Errorf("%w %d, and this program knows %d", errVersion, binary.LittleEndian.Uint32(b[4:]), segmentVersion)
	}
	return header{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]),
		int64(binary.LittleEndian.Uint32(b[24:]))}, nil
}

// recordSize returns the size of the record of a message, with its padding.
func recordSize(message int) int64 {
	return int64(recordHead+message+align-1) &^ (align - 1)
}

// appendRecord appends the record of a message to b, without what sealRecord adds.
func appendRecord(b, data []byte) []byte {
	var head [recordHead]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(data)))
	b = append(append(b, head[:]...), data...)
	var padding [align]byte
	return append(b, padding[:recordSize(len(data))-int64(recordHead+len(data))]...)
}

// sealRecord adds the number and the checksum.
func sealRecord(b []byte, incarnation, number uint64) {
	n := binary.LittleEndian.Uint32(b)
	binary.LittleEndian.PutUint32(b[4:], checksum(incarnation, number, b[recordHead:recordHead+n]))
	binary.LittleEndian.PutUint64(b[8:], number)
}

// decodeRecord returns the message of the record with which b begins. It reports false if there is no valid record with
// that number.
func decodeRecord(b []byte, incarnation, number uint64) (data []byte, ok bool) {
	if len(b) < recordHead || binary.LittleEndian.Uint64(b[8:]) != number {
		return nil, false
	}
	n := binary.LittleEndian.Uint32(b)
	if n > MaxMessage || recordSize(int(n)) > int64(len(b)) {
		return nil, false
	}
	data = b[recordHead : recordHead+n : recordHead+n]
	return data, checksum(incarnation, number, data) == binary.LittleEndian.Uint32(b[4:])
}

func checksum(incarnation, number uint64, data []byte) uint32 {
	var head [20]byte
	binary.LittleEndian.PutUint64(head[:], incarnation)
	binary.LittleEndian.PutUint64(head[8:], number)
	binary.LittleEndian.PutUint32(head[16:], uint32(len(data)))
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, data)
}
