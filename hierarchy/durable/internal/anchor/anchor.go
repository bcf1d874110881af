// Package anchor notices that a directory that this process has open is no longer where it was: somebody has deleted,
// moved or replaced it. Its files can be written on, as long as they are open, but the next process won't find them.
package anchor

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrGone means that the directory is gone.
var ErrGone = errors.New("the directory was deleted, moved or replaced while it was open")

// Every is the time between two looks at the file system: a Check sees what has happened before the last Every.
const Every = time.Second

const (
	most = 100 * time.Millisecond // for which a look is awaited, since a file system may hang
)

// Anchor watches a directory by a file in it. Its methods may be called concurrently.
type Anchor struct {
	file  *os.File
	dirs  []string
	start time.Time

	gone atomic.Bool // never reset: what was written since is elsewhere
	next atomic.Int64

	mu sync.Mutex // locked during a look
}

// New returns an Anchor for the directory that has an open file. While the file is open, no other file has its
// identity. The directories dirs must exist, too.
func New(file *os.File, dirs ...string) *Anchor {
	return &Anchor{file: file, dirs: dirs, start: time.Now()}
}

// Check returns ErrGone if the directory was gone at the last look, which is at most a second ago. It is cheap.
func (a *Anchor) Check() error {
	now := int64(time.Since(a.start))
	next := a.next.Load()
	if now >= next && a.next.CompareAndSwap(next, now+int64(Every)) {
		a.look()
	}
	if a.gone.Load() {
		return ErrGone
	}
	return nil
}

// look looks at the file system. If that hangs, look leaves the result to a later Check.
func (a *Anchor) look() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if a.mu.TryLock() {
			defer a.mu.Unlock()
			if a.isGone() {
				a.gone.Store(true)
			}
		}
	}()
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

func (a *Anchor) isGone() bool {
	was, err := a.file.Stat()
	if err != nil {
		return false // it is closed
	}
	is, err := os.Stat(a.file.Name())
	if isAbsent(err) || err == nil && !os.SameFile(was, is) {
		return true
	}
	for _, dir := range a.dirs {
		if _, err := os.Stat(dir); isAbsent(err) {
			return true
		}
	}
	return false
}

// isAbsent reports whether an error means that there is no such file. Others, such as a missing permission, do not tell.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
