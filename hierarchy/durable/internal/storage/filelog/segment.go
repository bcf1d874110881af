package filelog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// segment is one file of a log. Its messages follow each other without gaps. Log.mu guards the fields below the header.
// Whoever has the turn changes them in the active segment, and a reader once in any other, when it indexes that.
type segment struct {
	header
	place   uint64   // among the segments, as in the name
	used    int64    // where the next record begins
	offsets []uint32 // of the records, by number less base
	indexed bool     // the records were looked for
}

// end returns the number after the last message. The segment must be indexed.
func (s *segment) end() uint64 { return s.base + uint64(len(s.offsets)) }

// room reports whether a record fits.
func (s *segment) room(size int64) bool { return s.used+size <= s.size }

// added notes the record that was written at the end.
func (s *segment) added(size int64) {
	s.offsets = append(s.offsets, uint32(s.used))
	s.used += size
}

// span returns where the records from a number to another one, both included, begin and end in the file.
func (s *segment) span(from, to uint64) (begin, end int64) {
	begin, end = int64(s.offsets[from-s.base]), s.used
	if to+1 < s.end() {
		end = int64(s.offsets[to+1-s.base])
	}
	return begin, end
}

const suffix = ".seg"

func segmentName(place uint64) string { return fmt.Sprintf("%016x%s", place, suffix) }

// IsSegment reports whether a file is a segment, by its name.
func IsSegment(name string) bool {
	_, ok := placeOf(name)
	return ok
}

// placeOf returns the place of the segment with that name.
func placeOf(name string) (place uint64, ok bool) {
	n, err := fmt.Sscanf(name, "%016x", &place)
	return place, err == nil && n == 1 && segmentName(place) == name
}

// index notes the records in the data of a segment that have numbers before next, up to the first place that has none.
func (s *segment) index(data []byte, next uint64) {
	s.used, s.offsets, s.indexed = headerSize, nil, true
	for s.end() < next {
		message, ok := decodeRecord(data[s.used:], s.incarnation, s.end())
		if !ok {
			return
		}
		s.added(recordSize(len(message)))
	}
}

// readSegment returns the contents of the file of a segment.
func (l *Log) readSegment(s *segment) ([]byte, error) {
	f, err := l.fs.Open(l.path(s))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, s.size)
	return data, readAt(f, data, 0)
}

// readAt reads all of b. A file that is shorter than it was is an error.
func readAt(f File, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// later returns the number of a valid record after the end of an indexed segment, or 0. If there is one, the end
// is damage: a record is written only after those before it were synced.
func (s *segment) later(data []byte) uint64 {
	for at := s.used; at+recordHead <= int64(len(data)); at += align {
		number := binary.LittleEndian.Uint64(data[at+8:])
		if number <= s.end() || number-s.end() > uint64(len(data)) {
			continue
		}
		if _, ok := decodeRecord(data[at:], s.incarnation, number); ok {
			return number
		}
	}
	return 0
}

// unreadable explains why a file can't be read. One that is missing, or too short, is damage.
func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", storage.ErrDamaged, fmt.Errorf(format, args...))
}
