// Package salvage reads what is readable in a directory with damaged logs. It changes nothing. It searches the segments
// for frames, wherever they are: what is around them may be damaged, too. Frames that an earlier use of a segment has left
// behind have lower numbers than the log must have.
package salvage

import (
	"bytes"
	"encoding/binary"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// found is a whole frame in a file.
type found struct {
	file   string
	offset int64
	frame.Header
	checksum uint32
	size     int

	after    bool // frames are missing between the one before and this one
	doubtful bool // it is not the frame that was acknowledged
}

// broken is a place in a file that begins like a frame, but is not a valid one, or that can't be read.
type broken struct {
	file   string
	offset int64
	number uint64 // the frame's number according to its header, which may be wrong; 0 if it is unknown
	why    error
}

// scanned has what was found in the files of one log.
type scanned struct {
	frames map[uint64][]found // by number
	broken []broken
}

var magic = []byte("EpiF")

// The offsets of those fields of a frame's header that are needed to find its end, as in FORMAT.md.
const (
	atLength = 8
	atNumber = 16
)

// scan looks for frames in the segments of a log.
func scan(segments []string) (*scanned, error) {
	s := &scanned{frames: make(map[uint64][]found)}
	for _, file := range segments {
		data, lost, err := contents(file)
		if err != nil {
			return nil, err
		}
		for _, l := range lost {
			s.broken = append(s.broken, broken{file, l.offset, 0, l.why})
		}
		for at := 0; ; {
			next := bytes.Index(data[at:], magic)
			if next < 0 {
				break
			}
			at += next
			at += s.frame(file, int64(at), data[at:])
		}
	}
	return s, nil
}

// frame parses data that begins like a frame, and returns how many bytes to skip.
func (s *scanned) frame(file string, offset int64, data []byte) int {
	size, number := frame.Overhead, uint64(0)
	if len(data) >= frame.Overhead {
		size += int(binary.LittleEndian.Uint32(data[atLength:]))
		number = binary.LittleEndian.Uint64(data[atNumber:])
	}
	f, err := frame.Parse(data[:min(size, len(data))])
	if err != nil {
		s.broken = append(s.broken, broken{file, offset, number, err})
		return len(magic)
	}
	s.frames[f.Number] = append(s.frames[f.Number], found{file: file, offset: offset, Header: f.Header, checksum: f.Checksum, size: f.Size})
	return f.Size
}
