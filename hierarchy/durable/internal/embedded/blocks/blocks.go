// Package blocks reads the files in which a NATS server keeps the messages of a stream. It changes nothing.
//
// A record is its length, with a bit that is set if the message has headers (4 bytes), the sequence (8), the time (8),
// the length of the subject (2), the subject, the headers with their length before them, the message, and the checksum
// of everything except the lengths (8). The numbers are little endian.
package blocks

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
)

const (
	headerSize = 22
	hashSize   = 8
	largest    = 32 << 20

	hasHeaders = 1 << 31 // in the length
	erased     = 1 << 63 // in the sequence
	tombstone  = 1 << 62 // in the sequence
)

// ErrSequence means that the sequence of a record is not the one with which it was written.
var ErrSequence = errors.New("a message has another number than it was written with")

// Check returns ErrSequence if the sequence of a record of a stream was altered. A server would fill the gap up to that
// sequence, message by message, however much memory and time that takes. stream is the stream's directory.
//
// Check compares the checksum of a record only if the record does not follow the one before it, since gaps are usual
// where messages were deleted. Where a file ends in the middle of a record, or has something else, the server cuts the
// file off.
func Check(stream string) error {
	numbers, err := Numbers(stream)
	if err != nil {
		return err
	}
	c := checker{stream: filepath.Base(stream), buf: make([]byte, 64<<10)}
	for _, n := range numbers {
		if err := c.file(filepath.Join(stream, "msgs", fmt.Sprintf("%d.blk", n)), n); err != nil {
			return err
		}
	}
	return nil
}

// Numbers returns the numbers of a stream's files of messages, in order.
func Numbers(stream string) (numbers []int, err error) {
	entries, err := os.ReadDir(filepath.Join(stream, "msgs"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		text, is := strings.CutSuffix(e.Name(), ".blk")
		if n, err := strconv.Atoi(text); is && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

type checker struct {
	stream string
	last   uint64 // the highest sequence so far
	buf    []byte // what was read of the file, starting at begin
	begin  int64
	size   int // the number of bytes that buf holds
}

// file checks one file.
func (c *checker) file(name string, number int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c.begin, c.size = 0, 0
	for at := int64(0); at+headerSize <= info.Size(); {
		h, err := c.header(f, at)
		if err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(h) &^ hasHeaders)
		if !plausible(h, info.Size()-at) {
			return nil
		}
		sequence := binary.LittleEndian.Uint64(h[4:])
		if sequence != c.last+1 {
			whole, err := c.whole(f, at, size, number)
			if err != nil {
				return err
			}
			if !whole {
				return fmt.Errorf("%s, byte %d: %w", filepath.Base(name), at, ErrSequence)
			}
		}
		if sequence&tombstone == 0 {
			c.last = max(c.last, sequence&^erased)
		}
		at += size
	}
	return nil
}

// plausible reports whether a record may have that header, by the rules of the server.
func plausible(h []byte, left int64) bool {
	length := binary.LittleEndian.Uint32(h)
	size, least := int64(length&^hasHeaders), int64(headerSize+hashSize)+int64(binary.LittleEndian.Uint16(h[20:]))
	if length&hasHeaders != 0 {
		least += 4
	}
	return size >= least && size <= left && size <= largest
}

// header reads the header of a record. It does not read the rest of a long record.
func (c *checker) header(f *os.File, at int64) ([]byte, error) {
	if at < c.begin || at+headerSize > c.begin+int64(c.size) {
		n, err := f.ReadAt(c.buf, at)
		if n < headerSize {
			return nil, err
		}
		c.begin, c.size = at, n
	}
	return c.buf[at-c.begin:][:headerSize], nil
}

// whole reports whether a record is as it was written. The checksums of each file have a key of their own.
func (c *checker) whole(f *os.File, at, size int64, number int) (bool, error) {
	b := make([]byte, size)
	if _, err := f.ReadAt(b, at); err != nil {
		return false, err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", c.stream, number))
	h, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return false, err
	}
	rest := b[headerSize : size-hashSize]
	subject := int(binary.LittleEndian.Uint16(b[20:]))
	h.Write(b[4:20])
	h.Write(rest[:subject])
	if binary.LittleEndian.Uint32(b)&hasHeaders != 0 {
		subject += 4
	}
	h.Write(rest[subject:])
	return bytes.Equal(h.Sum(nil), b[size-hashSize:]), nil
}
