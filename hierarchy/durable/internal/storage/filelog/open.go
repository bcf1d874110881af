package filelog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Open opens the log of a directory, and makes it if there is none. The error is storage.ErrDamaged if something is
// missing or altered at a place that Open has to read: the marks, the headers, and the segment with the end.
func Open(fsys FS, dir string) (*Log, error) { return open(fsys, dir, usual) }

func open(fsys FS, dir string, sizes sizes) (*Log, error) {
	l := &Log{fs: fsys, dir: dir, sizes: sizes, turn: make(chan struct{}, 1), first: 1}
	if err := l.open(); err != nil {
		l.closeFiles()
		return nil, Explained(err)
	}
	return l, nil
}

func (l *Log) open() error {
	if err := MakeDir(l.fs, l.dir); err != nil {
		return err
	}
	if err := l.probe(); err != nil {
		return err
	}
	folder, err := l.fs.OpenDir(l.dir)
	if err != nil {
		return err
	}
	l.folder = folder
	if err := l.openMarks(); err != nil {
		return err
	}
	places, err := l.list()
	if err != nil {
		return err
	}
	for i, place := range places {
		if err := l.openSegment(place); err != nil {
			return err
		}
		if i == 0 {
			l.first = l.active().base
		}
	}
	return l.openEnd()
}

// probe returns an error if this process may not make files. It leaves none behind.
func (l *Log) probe() error {
	for _, name := range []string{l.markName() + newSuffix, filepath.Join(l.dir, "probe"+spareSuffix)} {
		f, err := l.fs.Create(name)
		if err == nil {
			err = cmp.Or(f.Close(), l.fs.Remove(name))
		}
		if err != nil && passing(err) == "" {
			return err
		}
	}
	return nil
}

// MakeDir makes a directory, and those above it, durably. It also syncs the one above if there is nothing to make:
// whoever made it may have been killed before that.
func MakeDir(fsys FS, dir string) error {
	above := filepath.Dir(dir)
	if !exists(fsys, dir) && above != dir {
		// What is above may belong to others. Then it is not new.
		if err := MakeDir(fsys, above); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return err
	}
	return fsys.SyncDir(above)
}

// exists reports whether there is a directory.
func exists(fsys FS, dir string) bool {
	_, err := fsys.List(dir)
	return !errors.Is(err, fs.ErrNotExist)
}

// list removes what is no segment any more, and returns the places of the segments, in order. Segments before a gap are
// left out: a deletion that was interrupted may have left them behind, and the next one removes them. If it has not, the
// log begins later than it must, which its owner finds out.
func (l *Log) list() (places []uint64, err error) {
	names, err := l.fs.List(l.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if place, ok := placeOf(name); ok {
			places = append(places, place)
		} else if strings.HasSuffix(name, spareSuffix) {
			if err := l.fs.Remove(filepath.Join(l.dir, name)); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(places)
	for i := len(places) - 1; i > 0; i-- {
		if places[i] != places[i-1]+1 {
			for _, place := range places[:i] {
				l.segments = append(l.segments, &segment{place: place})
			}
			return places[i:], nil
		}
	}
	return places, nil
}

// openSegment reads the header of a segment.
func (l *Log) openSegment(place uint64) error {
	s := &segment{place: place}
	f, err := l.fs.Open(l.path(s))
	if err != nil {
		return err
	}
	defer f.Close()
	var b [headerSize]byte
	if err := readAt(f, b[:], 0); err != nil {
		return unreadable(segmentName(place), err)
	}
	if s.header, err = decodeHeader(b[:]); err != nil {
		return fmt.Errorf("%s: %w", segmentName(place), err)
	}
	if size, err := f.Size(); err != nil {
		return err
	} else if size != s.size {
		return damaged("%s has %d bytes instead of %d", segmentName(place), size, s.size)
	}
	if last := l.active(); last != nil && s.base < last.base {
		return damaged("%s begins with message %d, and the segment before it with %d", segmentName(place), s.base, last.base)
	}
	l.segments = append(l.segments, s)
	return nil
}

// openEnd finds the end of the log in the last segment.
func (l *Log) openEnd() error {
	s := l.active()
	if s == nil {
		return nil
	}
	data, err := l.readSegment(s)
	if err != nil {
		return unreadable(segmentName(s.place), err)
	}
	s.index(data, math.MaxUint64)
	if later := s.later(data); later > 0 {
		return damaged("%s: there is no message %d at %d, but message %d after it", segmentName(s.place), s.end(), s.used, later)
	}
	l.last = s.end() - 1
	if l.file, err = l.fs.Open(l.path(s)); err != nil {
		return err
	}
	if err := l.folder.Sync(); err != nil {
		return err
	}
	return l.rewriteEnd(data)
}

// rewriteEnd writes the last record, which may be in the page cache only. If the active segment has none, the last one was
// acknowledged before the segment was made.
func (l *Log) rewriteEnd(data []byte) error {
	s := l.active()
	if len(s.offsets) == 0 {
		return nil
	}
	begin := int64(s.offsets[len(s.offsets)-1])
	return l.write(l.file, data[begin:s.used], begin)
}

func (l *Log) path(s *segment) string { return filepath.Join(l.dir, segmentName(s.place)) }

func (l *Log) nextPlace() uint64 {
	if s := l.active(); s != nil {
		return s.place + 1
	}
	return 1
}

// closeTime limits the wait of Close for a write that is in progress.
const closeTime = time.Second

// Close closes the log. If the disk hangs, Close does not wait for it: closed is closed when the last file is. Until then,
// nobody must open the log again, as a write may be in progress.
func (l *Log) Close() (closed <-chan struct{}) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.turn <- struct{}{}
		l.making.Wait()
		l.reading.Wait()
		l.closeFiles()
		<-l.turn
	}()
	limit := closeTime
	if begun := l.busy.Load(); begun != nil && time.Since(*begun) > hangTime {
		limit = 0
	}
	select {
	case <-done:
	case <-time.After(limit):
	}
	return done
}

func (l *Log) closeFiles() {
	for _, f := range []File{l.file, l.marks} {
		if f != nil {
			_ = f.Close()
		}
	}
	l.file, l.marks = nil, nil
	if l.folder != nil {
		_ = l.folder.Close()
	}
}
