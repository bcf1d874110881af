package filelog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
)

// Trim deletes the messages before begin. The files of those that share a segment with later ones stay for a while.
func (l *Log) Trim(ctx context.Context, begin uint64) error {
	return l.do(ctx, func() error { return explained(l.trim(begin)) })
}

func (l *Log) trim(begin uint64) error {
	gone := l.deleted(begin)
	for i, s := range gone {
		if err := l.free(s); err != nil {
			l.putBack(gone[i:])
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if err := l.fs.SyncDir(l.dir); err != nil {
		return l.lose(err)
	}
	return nil
}

// deleted takes out the segments that have only messages before begin. The active one stays: it knows the last number.
func (l *Log) deleted(begin uint64) (gone []*segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first = max(l.first, min(begin, l.last+1))
	n := 0
	for n+1 < len(l.segments) && l.segments[n+1].base <= l.first {
		n++
	}
	gone, l.segments = l.segments[:n:n], l.segments[n:]
	return gone
}

// putBack puts segments back that could not be deleted, so that it is tried again.
func (l *Log) putBack(s []*segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(s, l.segments...)
}

// free makes a spare of a segment, or removes it.
func (l *Log) free(s *segment) error {
	l.mu.Lock()
	keep := len(l.spares) < mostSpares && s.size == l.sizes.most
	l.mu.Unlock()
	from := l.path(s)
	if !keep {
		if err := l.fs.Remove(from); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	to := filepath.Join(l.dir, fmt.Sprintf("%016x%s", rand.Uint64(), spareSuffix))
	if err := l.fs.Rename(from, to); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spares = append(l.spares, spare{to, s.size})
	return nil
}
