// Package memlog provides a log in memory, for tests. It is as unreliable as a disk and a server can be: it loses what
// was not synced, fails, delays calls, and answers twice or not at all.
package memlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Fault is what goes wrong with one append.
type Fault uint8

const (
	None     Fault = iota
	Drop           // the append is not done, and the error is that there was no answer
	Forget         // the append is done, and the error is that there was no answer
	Silence        // the append is done, and there is no answer until the context ends
	Later          // the append arrives together with the next call but one, or as SetLag says, and there is no answer
	Twice          // the append arrives twice, and its caller gets the second answer
	Stranger       // somebody else's message arrives before it
	Refuse         // the append is refused, though it could have been done
	Copy           // a copy of the first message arrives before it
)

// Log is a connection to a Disk. Closing it has the same effect as the death of its process.
type Log struct {
	disk  *Disk
	fault func(data []byte) Fault // guarded by disk.mu
	// Before and After, if not nil, are called before and after each append, without a lock; After only if the append
	// was acknowledged.
	Before, After func(last uint64)
	// Trimming, if not nil, is called before messages are deleted, without a lock. If it returns an error, none are
	// deleted.
	Trimming func(context.Context) error
	Max      int // the size of the largest message; 0 means 1 MiB

	closed chan struct{}
	once   sync.Once
}

var _ storage.Log = (*Log)(nil)

// SetFault sets the function that returns the fault of each append. It is called under a lock.
func (l *Log) SetFault(f func(data []byte) Fault) {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	l.fault = f
}

// Close ends the connection: calls fail, and the results of those in progress are lost.
func (l *Log) Close() { l.once.Do(func() { close(l.closed) }) }

// call begins a call: it locks the disk, and makes late appends arrive. It fails if l is closed.
func (l *Log) call(ctx context.Context) error {
	select {
	case <-l.closed:
		return fmt.Errorf("memory: the connection is closed")
	case <-ctx.Done():
		return ctx.Err()
	default:
	}
	d := l.disk
	d.mu.Lock()
	if d.still {
		d.mu.Unlock()
		return errNoAnswer
	}
	waiting := d.late[:0]
	for _, a := range d.late {
		if a.calls--; a.calls > 0 {
			waiting = append(waiting, a)
		} else {
			d.append(a.last, a.data)
		}
	}
	d.late = waiting
	return nil
}

// errNoAnswer is not one of the errors of package storage, so it leaves the outcome unknown.
var errNoAnswer = fmt.Errorf("memory: no answer")

func (l *Log) Append(ctx context.Context, last uint64, data []byte) error {
	if l.Before != nil {
		l.Before(last)
	}
	if len(data) > l.MaxMessage() {
		return storage.ErrTooLarge
	}
	err, silent := l.append(ctx, last, bytes.Clone(data))
	if silent {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.closed:
			return errNoAnswer
		}
	}
	if err == nil && l.After != nil {
		l.After(last)
	}
	return err
}

func (l *Log) Get(ctx context.Context, number uint64) ([]byte, error) {
	if err := l.call(ctx); err != nil {
		return nil, err
	}
	defer l.disk.mu.Unlock()
	if l.disk.gone {
		return nil, errNoAnswer
	}
	return l.disk.get(number)
}

func (d *Disk) get(number uint64) ([]byte, error) {
	if number <= d.first || number > d.last() || d.all[number-d.first-1] == nil {
		return nil, fmt.Errorf("%w: %d", storage.ErrAbsent, number)
	}
	return bytes.Clone(d.all[number-d.first-1]), nil
}

func (l *Log) Read(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for ; from <= to; from++ {
			if data, err := l.Get(ctx, from); !yield(data, err) || err != nil {
				return
			}
		}
	}
}

func (l *Log) Bounds(ctx context.Context) (storage.Bounds, error) {
	if err := l.call(ctx); err != nil {
		return storage.Bounds{}, err
	}
	defer l.disk.mu.Unlock()
	if l.disk.gone {
		return storage.Bounds{}, fmt.Errorf("%w: it is missing", storage.ErrDamaged)
	}
	return storage.Bounds{First: l.disk.first + 1, Last: l.disk.last(), Most: l.disk.most}, nil
}

func (l *Log) Trim(ctx context.Context, begin uint64) error {
	if l.Trimming != nil {
		if err := l.Trimming(ctx); err != nil {
			return err
		}
	}
	if err := l.call(ctx); err != nil {
		return err
	}
	d := l.disk
	defer d.mu.Unlock()
	d.Trims++
	if begin = min(begin, d.last()+1); begin > d.first+1 {
		d.all = slices.Clone(d.all[begin-d.first-1:])
		d.first = begin - 1
	}
	return nil
}

func (l *Log) Mark(ctx context.Context) (storage.Mark, error) {
	if err := l.call(ctx); err != nil {
		return storage.Mark{}, err
	}
	defer l.disk.mu.Unlock()
	if l.disk.mark == nil {
		return storage.Mark{}, storage.ErrAbsent
	}
	return *l.disk.mark, nil
}

func (l *Log) SetMark(ctx context.Context, m storage.Mark) error {
	if err := l.call(ctx); err != nil {
		return err
	}
	defer l.disk.mu.Unlock()
	if l.disk.mark == nil || m.Number > l.disk.mark.Number {
		l.disk.mark = &m
	}
	return nil
}

func (l *Log) MaxMessage() (most int) {
	most = cmp.Or(l.Max, 1<<20)
	l.disk.locked(func() {
		if l.disk.large > 0 {
			most = min(most, l.disk.large)
		}
	})
	return most
}
