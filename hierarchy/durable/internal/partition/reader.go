package partition

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// reader reads a log. It does not use the state.
type reader struct {
	cfg     *Config
	warning seldom       // limits the warnings about strangers' messages
	most    atomic.Int64 // the size limit of the log in bytes, according to its last bounds; 0 if there is no limit
}

var (
	// errStranger is for a message that is not a frame of this log.
	errStranger = errors.New("it is no frame of this log")
	// errTrimmed means that the owner deleted frames before they were read here.
	errTrimmed = errors.New("the frames to be read were trimmed")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// parse parses the message with that number as a frame of this log. It returns errStranger if the message does not
// begin like a frame, or if it is a copy of an earlier frame: no owner wrote such a message with that number. A frame
// that was altered or is missing is still detected, because the next frame or the mark has the checksum of that frame.
func (cfg *Config) parse(data []byte, number uint64) (frame.Frame, error) {
	f, err := frame.Parse(data)
	switch {
	case err != nil && !frame.Begins(data), err == nil && f.Number < number && int(f.Partition) == cfg.Partition:
		return f, errStranger
	case errors.Is(err, frame.ErrVersion):
		return f, fmt.Errorf("frame %d: %w", number, err)
	case err != nil:
		return f, damaged("frame %d: %v", number, err)
	case f.Number != number:
		return f, damaged("frame %d says that it is frame %d", number, f.Number)
	case int(f.Partition) != cfg.Partition || int(f.Partitions) != cfg.Partitions:
		return f, damaged("frame %d is of partition %d of %d", number, f.Partition, f.Partitions)
	}
	return f, nil
}

// isStranger reports whether the message with that number is not a frame of this log.
func (r *reader) isStranger(data []byte, number uint64) bool {
	_, err := r.cfg.parse(data, number)
	return errors.Is(err, errStranger)
}

// warnOfStrangers logs that messages were left out, unless that was logged shortly before.
func (r *reader) warnOfStrangers(first, count uint64) {
	if count > 0 && r.warning.due() {
		r.cfg.Logger.Warn("durable: somebody else has written to the log, which is left out",
			"partition", r.cfg.Partition, "first", first, "messages", count)
	}
}

// bounds returns where the log begins and ends, and records the size limit of the log.
func (r *reader) bounds(ctx context.Context) (storage.Bounds, error) {
	b, err := r.cfg.Log.Bounds(ctx)
	if err == nil {
		r.most.Store(b.Most)
	}
	return b, err
}

// frames reads and parses the frames from number to last, and sends them to the channel.
func (r *reader) frames(ctx context.Context, number, last uint64, frames chan<- frame.Frame) error {
	var first, strangers uint64
	defer func() { r.warnOfStrangers(first, strangers) }()
	for data, err := range r.cfg.Log.Read(ctx, number, last) {
		if errors.Is(err, storage.ErrAbsent) {
			return r.missing(ctx, number)
		}
		if err != nil {
			return err
		}
		f, err := r.cfg.parse(data, number)
		if errors.Is(err, errStranger) {
			if strangers == 0 {
				first = number
			}
			strangers++
			number++
			continue
		}
		if err != nil {
			return err
		}
		select {
		case frames <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
		number++
	}
	return nil
}

// missing returns the error for a frame that could not be read. The owner of a log that is being followed may have
// trimmed it; otherwise the log is damaged.
func (r *reader) missing(ctx context.Context, number uint64) error {
	last, err := r.end(ctx, storage.Mark{})
	switch {
	case err != nil:
		return err
	case number < last.Begin:
		return errTrimmed
	}
	return damaged("frame %d is missing", number)
}

// end returns the last frame and the end of the log. Both are zero if the log has never had a message.
func (r *reader) end(ctx context.Context, mark storage.Mark) (last core.Head, err error) {
	for err = errTrimmed; errors.Is(err, errTrimmed); {
		last, err = r.endNow(ctx, mark)
	}
	return last, err
}

// endNow is end without the retry: it returns errTrimmed if the frame that was last at the beginning of the call is no
// longer there.
func (r *reader) endNow(ctx context.Context, mark storage.Mark) (last core.Head, err error) {
	b, err := r.bounds(ctx)
	switch {
	case err != nil:
		return last, err
	case b.Last < mark.Number:
		return last, damaged("it ends at frame %d, and frame %d was acknowledged", b.Last, mark.Number)
	case b.Last == 0:
		return last, nil
	case b.First > b.Last:
		return last, damaged("all its frames are missing, up to %d", b.Last)
	}
	f, err := r.last(ctx, b)
	switch {
	case err != nil:
	case f.Number < mark.Number:
		err = damaged("it ends at frame %d, and frame %d was acknowledged", f.Number, mark.Number)
	case b.First > f.Begin && f.Number > 0:
		err = damaged("it begins at frame %d, and must begin at %d", b.First, f.Begin)
	}
	return core.Head{Header: f.Header, Checksum: f.Checksum, End: b.Last}, err
}

// last returns the last frame of a log with these bounds. If the log has only strangers' messages, last returns a frame
// with number 0.
func (r *reader) last(ctx context.Context, b storage.Bounds) (last frame.Frame, err error) {
	for size := uint64(1); b.First <= b.Last; size = min(2*size, 1<<10) {
		number, found := b.First, false
		if b.Last-b.First >= size {
			number = b.Last - size + 1
		}
		from := number
		for data, failed := range r.cfg.Log.Read(ctx, number, b.Last) {
			if errors.Is(failed, storage.ErrAbsent) {
				return last, r.lastMissing(ctx, number)
			}
			if failed != nil {
				return last, failed
			}
			if f, failed := r.cfg.parse(data, number); !errors.Is(failed, errStranger) {
				last, err, found = f, failed, true
			}
			number++
		}
		if found {
			return last, err
		}
		b.Last = from - 1
	}
	return last, nil
}

// lastMissing returns the error for a last frame that can't be read. The owner of a log that is being followed may have
// trimmed it since the bounds were read.
func (r *reader) lastMissing(ctx context.Context, number uint64) error {
	switch b, err := r.cfg.Log.Bounds(ctx); {
	case err != nil:
		return err
	case number < b.First && b.First <= b.Last:
		return errTrimmed
	}
	return damaged("its last frame, %d, is missing", number)
}

// Peek reads the last frame of a log, and writes nothing. The error is ErrVersion if this program can't read the
// version of that frame. Peek need not read earlier frames: none has a later version than the last frame, since no
// process takes over a log that it can't read. Other errors say nothing about the version.
func Peek(ctx context.Context, cfg Config) error {
	b, err := cfg.Log.Bounds(ctx)
	if err == nil && b.First <= b.Last {
		_, err = (&reader{cfg: &cfg}).last(ctx, b)
	}
	return cfg.named(err)
}

// named returns err with the number of the partition.
func (cfg *Config) named(err error) error {
	if err != nil {
		err = storage.In(fmt.Sprintf("partition %d", cfg.Partition), err)
	}
	return err
}
