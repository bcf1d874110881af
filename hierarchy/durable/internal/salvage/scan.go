// Package salvage reads what can be read of a directory with damaged logs. It changes nothing. It looks for frames
// anywhere in the server's files, without the server, which would cut off what it finds damaged.
package salvage

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded/blocks"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// found is a whole frame in a file.
type found struct {
	file   string
	offset int64
	frame.Header
	checksum uint32
	size     int
}

// broken begins like a frame and is none.
type broken struct {
	file   string
	offset int64
	number uint64 // as it has it, which may be wrong
	why    error
}

// scanned is the contents of the files of one log.
type scanned struct {
	frames map[uint64][]found // by number
	broken []broken
}

var magic = []byte("EpiF")

// The offsets in a frame's header that are needed to find its end, as in FORMAT.md.
const (
	atLength = 8
	atNumber = 16
)

// scan looks for frames in the files of a log.
func scan(files []string) (*scanned, error) {
	s := &scanned{frames: make(map[uint64][]found)}
	err := search(files, magic, func(file string, data []byte, at int) int { return s.frame(file, int64(at), data[at:]) })
	return s, err
}

// search calls found for each place in the files that begins with text. found returns how far to go on.
func search(files []string, text []byte, found func(file string, data []byte, at int) int) error {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for at := 0; ; {
			next := bytes.Index(data[at:], text)
			if next < 0 {
				break
			}
			at += next
			at += found(file, data, at)
		}
	}
	return nil
}

// frame parses what begins like a frame, and returns how far to go on.
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
	s.frames[f.Number] = append(s.frames[f.Number], found{file, offset, f.Header, f.Checksum, f.Size})
	return f.Size
}

// marks looks for the marks of a name in the files of their stream, by partition. Of several, the
// highest is true.
func marks(files []string, name string) (map[int]*storage.Mark, error) {
	all := make(map[int]*storage.Mark)
	prefix := []byte("epicycle." + name + ".mark.")
	err := search(files, prefix, func(_ string, data []byte, at int) int {
		partition, mark, ok := markAt(data, at, len(prefix))
		if was := all[partition]; ok && (was == nil || mark.Number > was.Number) {
			all[partition] = &mark
		}
		return len(prefix)
	})
	return all, err
}

// markAt returns the mark in a message of the server whose subject begins at some place. Before it are
// two bytes with its length, after it four bytes with the length of the headers, the headers, and
// the mark.
func markAt(data []byte, at, prefix int) (partition int, mark storage.Mark, ok bool) {
	if at < 2 {
		return 0, mark, false
	}
	end := at + int(binary.LittleEndian.Uint16(data[at-2:]))
	if end < at+prefix || end+4 > len(data) {
		return 0, mark, false
	}
	partition, err := strconv.Atoi(string(data[at+prefix : end]))
	body := end + 4 + int(binary.LittleEndian.Uint32(data[end:]))
	if err != nil || body+storage.MarkSize > len(data) {
		return 0, mark, false
	}
	mark, ok = storage.DecodeMark(data[body : body+storage.MarkSize])
	return partition, mark, ok
}

// stream is the pattern of the directory of a log, or of the marks.
var stream = regexp.MustCompile(`^epicycle_([a-zA-Z0-9_-]+)_(\d+|marks)$`)

// streams are the files of a name: of its logs, by partition, and of its marks.
type streams struct {
	logs  map[int][]string
	marks []string
	wrong map[int]error // why a log's stream is not given to a server
	// wrongMarks is why the marks' stream is not given to a server.
	wrongMarks error
	some       bool // the logs are some of the name's, and the others are not to be read
}

// list finds the names of a directory.
func list(dir string) (map[string]*streams, error) {
	dirs, err := filepath.Glob(filepath.Join(escaped(dir), "streams", "*", "*", "streams", "epicycle_*"))
	if err != nil {
		return nil, err
	}
	aside, err := filepath.Glob(filepath.Join(escaped(dir), "damaged", "epicycle_*"))
	if err != nil {
		return nil, err
	}
	dirs = append(aside, dirs...) // what a backup has brought back counts
	names := make(map[string]*streams)
	for _, d := range dirs {
		files, err := filepath.Glob(filepath.Join(escaped(d), "msgs", "*.blk"))
		if err != nil {
			return nil, err
		}
		add(names, d, files)
	}
	return names, nil
}

// add adds the files of a stream. It reports whether the name of the stream's directory is that of one.
func add(names map[string]*streams, dir string, files []string) bool {
	m := stream.FindStringSubmatch(filepath.Base(dir))
	if m == nil {
		return false
	}
	slices.Sort(files)
	s := streamsOf(names, m[1])
	wrong := blocks.Check(dir)
	if m[2] == "marks" {
		s.marks, s.wrongMarks = files, wrong
	} else if p, err := strconv.Atoi(m[2]); err == nil {
		s.logs[p], s.wrong[p] = files, wrong
	}
	return true
}

func streamsOf(names map[string]*streams, name string) *streams {
	if names[name] == nil {
		names[name] = &streams{logs: make(map[int][]string), wrong: make(map[int]error)}
	}
	return names[name]
}

var special = regexp.MustCompile(`[*?\[\\]`)

// escaped returns a name for Glob without patterns.
func escaped(name string) string {
	if filepath.Separator == '\\' {
		return name // Glob of Windows knows no escapes
	}
	return special.ReplaceAllString(name, `\$0`)
}
