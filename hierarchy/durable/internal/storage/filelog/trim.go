package filelog

import (
	"context"
	"errors"
	"io/fs"
)

// Trim deletes the messages before begin. The files of those that share a segment with later ones stay for a while.
func (l *Log) Trim(ctx context.Context, begin uint64) error {
	return l.do(ctx, func() error { return Explained(l.trim(begin)) })
}

func (l *Log) trim(begin uint64) error {
	gone := l.deleted(begin)
	if len(gone) == 0 {
		return nil
	}
	freed, err := l.free(gone)
	if err := l.folder.Sync(); err != nil {
		return l.lose(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spares = append(l.spares, freed...) // only now: until the sync, they may still be segments after a crash
	return err
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

// free removes segments, or makes spares of them. It puts back those that it can't remove.
func (l *Log) free(gone []*segment) (freed []spare, err error) {
	l.mu.Lock()
	missing := mostSpares - len(l.spares)
	l.mu.Unlock()
	for i, s := range gone {
		if s.size == l.sizes.most && len(freed) < missing {
			to := spare{l.spareName(), s.size}
			if err = l.fs.Rename(l.path(s), to.name); err == nil {
				freed = append(freed, to)
			}
		} else {
			err = l.fs.Remove(l.path(s))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.putBack(gone[i:])
			return freed, err
		}
	}
	return freed, nil
}
