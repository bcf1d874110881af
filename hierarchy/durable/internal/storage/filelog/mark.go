package filelog

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

const (
	// MarkSuffix is appended to the name of the directory of a log for the file with its mark.
	MarkSuffix = ".mark"

	newSuffix = ".new"
	markPlace = 4096 // bytes from one place of the mark to the other: they share no block of the disk
)

func (l *Log) markName() string { return l.dir + MarkSuffix }

// Mark returns the mark.
func (l *Log) Mark(ctx context.Context) (storage.Mark, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return l.mark, err
	}
	if !l.marked {
		return l.mark, storage.ErrAbsent
	}
	return l.mark, nil
}

// SetMark replaces the mark by a higher one.
func (l *Log) SetMark(ctx context.Context, m storage.Mark) error {
	return l.do(ctx, func() error {
		if l.marked && m.Number <= l.mark.Number {
			return nil
		}
		return Explained(l.setMark(m))
	})
}

func (l *Log) setMark(m storage.Mark) error {
	if l.marks == nil {
		if err := l.makeMarks(m); err != nil {
			return err
		}
	} else {
		other := 1 - l.at
		if err := l.write(l.marks, m.Encode(), int64(other)*markPlace); err != nil {
			return err
		}
		l.at = other
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mark, l.marked = m, true
	return nil
}

// makeMarks makes the file with the first mark. Until it has its name, there is none.
func (l *Log) makeMarks(m storage.Mark) error {
	name := l.markName()
	f, err := l.fs.Create(name + newSuffix)
	if err != nil {
		return err
	}
	b := make([]byte, 2*markPlace)
	copy(b, m.Encode())
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		err = l.fs.Rename(name+newSuffix, name)
	}
	if err != nil {
		_ = l.fs.Remove(name + newSuffix)
		return err
	}
	if err := l.fs.SyncDir(filepath.Dir(name)); err != nil {
		return l.lose(err)
	}
	if f, err = l.fs.Open(name); err == nil {
		l.marks, l.at = f, 0
	}
	return err
}

// openMarks reads the mark. It is written again, since its last sync may have failed.
func (l *Log) openMarks() error {
	f, err := l.fs.Open(l.markName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.marks = f
	b := make([]byte, 2*markPlace)
	if err := readAt(f, b, 0); err != nil {
		return unreadable(filepath.Base(l.markName()), err)
	}
	m, at := highest(b)
	if m == nil {
		return damaged("%s: none of its two marks is what was written", filepath.Base(l.markName()))
	}
	l.mark, l.marked, l.at = *m, true, at
	return l.write(f, m.Encode(), int64(at)*markPlace)
}

// highest returns the highest mark of a file, and its place, or nil.
func highest(b []byte) (m *storage.Mark, at int) {
	for i := range 2 {
		if len(b) < i*markPlace+storage.MarkSize {
			break
		}
		there, ok := storage.DecodeMark(b[i*markPlace : i*markPlace+storage.MarkSize])
		if ok && (m == nil || there.Number > m.Number) {
			m, at = &there, i
		}
	}
	return m, at
}

// ReadMark returns the mark in a file. It is nil if there is no file, or none of the two marks in it is whole.
func ReadMark(name string) (*storage.Mark, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m, _ := highest(b)
	return m, err
}
