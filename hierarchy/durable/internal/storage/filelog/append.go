package filelog

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Append appends data as message last+1.
func (l *Log) Append(ctx context.Context, last uint64, data []byte) error {
	if len(data) > MaxMessage {
		return storage.ErrTooLarge
	}
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	l.buffer = appendRecord(l.buffer[:0], data) // the caller may reuse data while the write goes on
	return l.useTurn(ctx, func() error { return l.tried(Explained(l.append(last))) })
}

// append writes the record in the buffer, and syncs it.
func (l *Log) append(last uint64) error {
	if last != l.last {
		return fmt.Errorf("%w: the log ends at %d", storage.ErrRefused, l.last)
	}
	size := int64(len(l.buffer))
	if s := l.active(); s == nil || !s.room(size) {
		if err := l.roll(size); err != nil {
			return err
		}
	}
	s := l.active()
	sealRecord(l.buffer, s.incarnation, last+1)
	if err := l.write(l.file, l.buffer, s.used); err != nil {
		return err
	}
	l.mu.Lock()
	s.added(size)
	l.last++
	l.mu.Unlock()
	l.prepare()
	if int64(cap(l.buffer)) > l.sizes.chunk { // after one large message, its buffer must not be kept
		l.buffer = nil
	}
	return nil
}

// write writes to a file and syncs it. If it is unknown what has become of that, the log is lost.
func (l *Log) write(f File, b []byte, at int64) error {
	_, err := f.WriteAt(b, at)
	if err != nil && passing(err) != "" {
		return err
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return l.lose(err)
	}
	return nil
}

// active returns the segment to which messages are appended, or nil.
func (l *Log) active() *segment {
	if len(l.segments) == 0 {
		return nil
	}
	return l.segments[len(l.segments)-1]
}

// roll begins another segment, with room for a record of that size. Until the new segment has its name, nothing depends
// on it: an error leaves the log as it was.
func (l *Log) roll(size int64) error {
	sp, err := l.takeSpare(size)
	if err != nil {
		return err
	}
	s := &segment{header: header{rand.Uint64(), l.last + 1, sp.size}, place: l.nextPlace(), used: headerSize, indexed: true}
	if err := l.begin(sp.name, s); err != nil {
		_ = l.fs.Remove(sp.name)
		return err
	}
	if err := l.fs.Rename(sp.name, l.path(s)); err != nil {
		if passing(err) == "" && !isBusy(err) {
			return l.lose(err) // it may have the name, and what is appended to the segment before would not count
		}
		_ = l.fs.Remove(sp.name)
		return err
	}
	return l.activate(s)
}

// begin writes the header of a segment to the file that becomes the segment.
func (l *Log) begin(name string, s *segment) error {
	f, err := l.fs.Open(name)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(s.encode(), 0); err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// activate makes a segment that has its name the active one.
func (l *Log) activate(s *segment) error {
	f, err := l.fs.Open(l.path(s))
	if err != nil {
		return l.abandon(s, err)
	}
	if err := l.folder.Sync(); err != nil {
		_ = f.Close()
		return l.lose(err)
	}
	if l.file != nil {
		_ = l.file.Close() // what was written to it was synced
	}
	l.file = f
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(l.segments, s)
	l.prepared = false
	return nil
}

// abandon removes a segment that could not be opened, so that the one before it stays active.
func (l *Log) abandon(s *segment, why error) error {
	err := l.fs.Remove(l.path(s))
	if err == nil {
		err = l.folder.Sync()
	}
	if err != nil {
		return l.lose(fmt.Errorf("%w, and then %w", why, err))
	}
	return why
}
