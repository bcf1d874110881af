package filelog

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// sizes are the sizes of files. The first segments are smaller than the others, so that a few timers take little room.
type sizes struct {
	first, most int64 // of segments
	chunk       int64 // the most that is read or written at once, unless a message is larger
}

var usual = sizes{256 << 10, 4 << 20, 1 << 20}

const (
	growth      = 4
	mostSpares  = 2
	spareSuffix = ".spare"
)

// spare is a file of zeros, or of what a segment has left behind, that can become a segment.
type spare struct {
	name string
	size int64
}

// nextSize returns the size of the next segment, if it has room for a record of that size.
func (l *Log) nextSize(record int64) int64 {
	next := l.sizes.first
	if s := l.active(); s != nil {
		next = min(growth*max(next, s.size), l.sizes.most)
	}
	return max(next, l.leastSize(record))
}

// leastSize returns the size of the smallest segment with room for a record of that size.
func (l *Log) leastSize(record int64) int64 {
	return (headerSize + record + l.sizes.first - 1) / l.sizes.first * l.sizes.first
}

// takeSpare returns a spare file for a record of that size. It makes one if there is none.
func (l *Log) takeSpare(record int64) (s spare, err error) {
	l.making.Wait()
	size := l.nextSize(record)
	l.mu.Lock()
	i := slices.IndexFunc(l.spares, func(s spare) bool { return s.size >= size })
	if i >= 0 {
		s = l.spares[i]
		l.spares = slices.Delete(l.spares, i, i+1)
	}
	l.mu.Unlock()
	if i >= 0 {
		return s, nil
	}
	if s, err = l.makeSpare(size); err != nil && passing(err) != "" && l.leastSize(record) < size {
		s, err = l.makeSpare(l.leastSize(record)) // there may be room for that
	}
	return s, err
}

// makeSpare writes a file with zeros. If that fails, it leaves nothing behind.
func (l *Log) makeSpare(size int64) (spare, error) {
	s := spare{l.spareName(), size}
	f, err := l.fs.Create(s.name)
	if err != nil {
		return s, err
	}
	chunk := l.sizes.chunk
	zeros := make([]byte, min(size, chunk))
	for at := int64(0); at < size && err == nil; at += chunk {
		_, err = f.WriteAt(zeros[:min(chunk, size-at)], at)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = l.fs.Remove(s.name)
	}
	return s, err
}

func (l *Log) spareName() string {
	return filepath.Join(l.dir, fmt.Sprintf("%016x%s", rand.Uint64(), spareSuffix))
}

// prepare makes the next spare in another goroutine when the active segment is half full, so that no append waits for
// it. If that fails, it is not tried again, and the append that needs the spare finds out why.
func (l *Log) prepare() {
	l.mu.Lock()
	s := l.active()
	begin := !l.prepared && len(l.spares) == 0 && s.used > s.size/2
	l.prepared = l.prepared || begin
	size := l.nextSize(0)
	l.mu.Unlock()
	if !begin {
		return
	}
	l.making.Go(func() {
		if s, err := l.makeSpare(size); err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.spares = append(l.spares, s)
		}
	})
}
