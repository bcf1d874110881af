// Package salvage reads what is readable in a directory with damaged logs. It changes nothing. It searches the server's
// files for frames by itself, because the server would cut off what it finds damaged.
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

	after    bool // frames are missing between the one before and this one
	doubtful bool // it is not the frame that was acknowledged
}

// broken is a place in a file that begins like a frame, but is not a valid one.
type broken struct {
	file   string
	offset int64
	number uint64 // the frame's number according to its header, which may be wrong
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

// scan looks for frames in the files of a log.
func scan(files []string) (*scanned, error) {
	s := &scanned{frames: make(map[uint64][]found)}
	err := search(files, magic, func(file string, data []byte, at int) int { return s.frame(file, int64(at), data[at:]) })
	return s, err
}

// search calls found for each place in the files that begins with text. found returns how many bytes to skip.
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

// marks searches the files of a stream for the marks of a name, and returns the highest mark of each partition.
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

// markAt returns the mark in a message of the server whose subject begins at that place. Before the subject are two
// bytes with its length; after it are four bytes with the length of the headers, the headers, and the mark.
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

// stream matches the name of the directory of a log, or of the marks.
var stream = regexp.MustCompile(`^epicycle_([a-zA-Z0-9_-]+)_(\d+|marks)$`)

// streams has the files of a name: of its logs, by partition, and of its marks.
type streams struct {
	logs  map[int][]string
	marks []string
	wrong map[int]error // by partition: why the log's stream was not passed to a server
	// wrongMarks is why the stream with the marks was not passed to a server.
	wrongMarks error
	some       bool // only some of the name's logs are to be read
}

// list finds the names in a directory.
func list(dir string) (map[string]*streams, error) {
	dirs, err := filepath.Glob(filepath.Join(escaped(dir), "streams", "*", "*", "streams", "epicycle_*"))
	if err != nil {
		return nil, err
	}
	aside, err := filepath.Glob(filepath.Join(escaped(dir), "damaged", "epicycle_*"))
	if err != nil {
		return nil, err
	}
	dirs = append(aside, dirs...) // a stream that a backup has brought back takes precedence
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

// add adds the files of a stream. It reports whether the directory has the name of a stream.
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

// escaped returns a name as a pattern of Glob that matches only the name.
func escaped(name string) string {
	if filepath.Separator == '\\' {
		return name // on Windows, Glob has no escapes
	}
	return special.ReplaceAllString(name, `\$0`)
}
