// Package directory opens the log of a set of timers in a directory. A process locks a directory while it has one of
// its logs open. It may have several, each once.
package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/anchor"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/filelog"
)

// The errors of Open, in addition to those of the file system. They are wrapped.
var (
	errInUse  = errors.New("the directory is in use by another process")
	errFormat = errors.New("the directory is of another format")
	// ErrName means that the name can't be opened: it is open in this process, or the file system does not tell it from
	// one that there is.
	ErrName = errors.New("Name")
)

// Log is the log of a name in a directory.
type Log struct {
	*filelog.Log       // nil if it is damaged so that it can't be opened
	Damage       error // storage.ErrDamaged, wrapped, or nil

	dir    *dir
	name   string
	anchor *anchor.Anchor
	once   sync.Once
	ending bool          // Close has begun; guarded by dirs.mu
	ready  chan struct{} // closed when it is known whether somebody gets the log from Open
	closed chan struct{} // closed when the name can be opened again
}

// Open opens the log of a name. It makes the directory and the log if there are none. If the file system has not answered
// when ctx is done, Open returns, and what it has opened is closed later.
func Open(ctx context.Context, path, name string) (*Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, storage.In(path, err)
	}
	type result struct {
		l   *Log
		err error
	}
	done := make(chan result)
	go func() {
		l, err := open(ctx, path, name)
		select {
		case done <- result{l, err}:
			if err == nil {
				close(l.ready)
			}
		case <-ctx.Done():
			if err == nil {
				l.Close()
			}
		}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, storage.In(path, r.err)
		}
		return r.l, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: the disk does not answer in time: %w", path, ctx.Err())
	}
}

func open(ctx context.Context, path, name string) (*Log, error) {
	path, err := canonical(path)
	if err != nil {
		return nil, filelog.Explained(err)
	}
	for {
		d := use(path)
		l, before, err := d.open(name)
		if err != nil || before != nil {
			d.leave()
		}
		if before == nil {
			return l, filelog.Explained(err)
		}
		if err := before.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// wait waits until a log is closed, or it is known that somebody has it.
func (l *Log) wait(ctx context.Context) error {
	select {
	case <-l.closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.ready:
	}
	dirs.mu.Lock()
	ending := l.ending
	dirs.mu.Unlock()
	if !ending {
		return nil
	}
	select {
	case <-l.closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// canonical creates a directory, and returns the name that it has however it is reached.
func canonical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	made := filelog.MakeDir(filelog.OS{}, path)
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", cmp.Or(made, err)
	}
	if errors.Is(made, fs.ErrPermission) { // it was there, and what is above it is another's
		made = nil
	}
	return path, made
}

// Gone returns an error if the directory is no longer where it was opened: what is written now is lost.
func (l *Log) Gone() error { return l.anchor.Check() }

// Close closes the log, and unlocks the directory if no other log of it is open. If the disk hangs, Close does not wait
// for it, but the next Open does.
func (l *Log) Close() { l.once.Do(l.close) }

// closeTime limits the wait of Close for the directory, which an Open of another name may have.
const closeTime = time.Second

func (l *Log) close() {
	l.dir.begin(l)
	var hangs bool
	closed := l.files()
	select {
	case <-closed:
	default:
		hangs = true
	}
	go func() {
		<-closed
		l.dir.end(l)
	}()
	if hangs {
		return
	}
	select {
	case <-l.closed:
	case <-time.After(closeTime):
	}
}

// files closes the files of the log, and returns a channel that is closed when they are.
func (l *Log) files() <-chan struct{} {
	if l.Log != nil {
		return l.Log.Close()
	}
	none := make(chan struct{})
	close(none)
	return none
}
