package filelog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// MaxMessage is the size of the largest message: enough for the largest Batch in most programs.
const MaxMessage = 8 << 20

var (
	errClosed  = errors.New("the log is closed")
	errVersion = errors.New("the log has the version")
)

// Log is a log in files. There must be only one for each directory.
type Log struct {
	fs    FS
	dir   string // of the segments
	sizes sizes
	turn  chan struct{}             // of capacity 1: full while somebody has the turn to write
	busy  atomic.Pointer[time.Time] // when the write in progress has begun; nil if there is none

	making  sync.WaitGroup // goroutines that make a spare
	reading sync.WaitGroup // goroutines that read a segment

	// Only whoever has the turn uses these fields.
	folder Dir    // with the segments
	file   File   // of the active segment
	marks  File   // nil if there is no mark
	at     int    // the place of the highest mark: 0 or 1
	buffer []byte // for the record that is being written

	mu       sync.Mutex
	segments []*segment // by number; the last one is active, and indexed
	first    uint64     // the number of the first message that was not deleted
	last     uint64     // the number of the last message
	mark     storage.Mark
	marked   bool // there is a mark
	spares   []spare
	closed   bool
	prepared bool      // a spare for the next segment was begun
	lost     error     // why nothing can be written any more
	lacking  error     // why nothing could be written the last time, if that goes by
	since    time.Time // when lost or lacking was set
	onLost   func(error)
}

var _ storage.Log = (*Log)(nil)

// ErrLost is for a log that does not know what is on the disk.
var ErrLost = errors.New("writing has failed, and the log has to be opened again")

// hangTime is the time after which a disk that does not answer is a problem.
const hangTime = time.Second

// Refusal returns the error because of which nothing can be written at the moment, and since when, or nil.
func (l *Log) Refusal() (since time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.since, l.lost
	}
	if l.lacking != nil {
		return l.since, l.lacking
	}
	return time.Time{}, nil
}

// Problem is Refusal, but a disk that does not answer is a problem, too.
func (l *Log) Problem() (since time.Time, err error) {
	if since, err = l.Refusal(); err != nil {
		return since, err
	}
	if begun := l.busy.Load(); begun != nil && time.Since(*begun) > hangTime {
		return *begun, fmt.Errorf("the disk has not answered for %v", time.Since(*begun).Round(time.Second/10))
	}
	return time.Time{}, nil
}

// do waits for the turn, and calls f with it in another goroutine. When ctx is done, do returns, and f goes on.
func (l *Log) do(ctx context.Context, f func() error) error {
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	return l.useTurn(ctx, f)
}

// takeTurn waits for the turn, which useTurn needs.
func (l *Log) takeTurn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// useTurn calls f, and then gives the turn back.
func (l *Log) useTurn(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() {
		begun := time.Now()
		l.busy.Store(&begun)
		err := l.usable()
		if err == nil {
			err = f()
		}
		l.busy.Store(nil)
		<-l.turn
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// usable returns an error if the log is closed, or lost.
func (l *Log) usable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	return l.lost
}

// tried records, for Problem, whether a message could be written.
func (l *Log) tried(err error) error {
	if errors.Is(err, storage.ErrRefused) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.lacking == nil {
		l.since = time.Now()
	}
	l.lacking = err
	return err
}

// lose records that it is unknown what is on the disk. Nothing is written from now on.
func (l *Log) lose(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		l.lost, l.since = fmt.Errorf("%w: %w", ErrLost, err), time.Now()
		if l.onLost != nil {
			go l.onLost(l.lost)
		}
	}
	return l.lost
}

// OnLost has f called, once, when the log can't be written to any more until it is opened again. If that is so already,
// f is called at once. Only the f of the last call is called.
func (l *Log) OnLost(f func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.onLost = f; l.lost != nil {
		go f(l.lost)
	}
}

// MaxMessage returns the size of the largest message.
func (*Log) MaxMessage() int { return MaxMessage }

// Bounds returns the numbers of the first and the last message.
func (l *Log) Bounds(ctx context.Context) (storage.Bounds, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return storage.Bounds{First: l.first, Last: l.last}, ctx.Err()
}
