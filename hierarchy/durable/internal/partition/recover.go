package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// parse parses the frame with that number. It is errStranger if the message does not begin like a frame, or is
// a copy of an earlier one: no owner has written it. What is altered or missing is noticed all the same, as
// the next frame is not chained to the one before, or there is the mark.
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

// readFrames reads and parses frames.
func (p *Partition) readFrames(ctx context.Context, number, last uint64, frames chan<- frame.Frame) error {
	var first, strangers uint64
	defer func() { p.tellStrangers(first, strangers) }()
	for data, err := range p.cfg.Log.Read(ctx, number, last) {
		if errors.Is(err, journal.ErrAbsent) {
			return p.missing(ctx, number)
		}
		if err != nil {
			return err
		}
		f, err := p.cfg.parse(data, number)
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

// missing is the error for a frame that must be there and is not. The owner of a log that is being
// followed may have trimmed it.
func (p *Partition) missing(ctx context.Context, number uint64) error {
	last, err := p.lastFrame(ctx, journal.Mark{})
	switch {
	case err != nil:
		return err
	case number < last.Begin:
		return errTrimmed
	}
	return damaged("frame %d is missing", number)
}

// follows checks that f can come after the last frame that was read, which may be none.
func (p *Partition) follows(f *frame.Frame, mark journal.Mark, last head) error {
	switch {
	case f.Number == mark.Number && f.Checksum != mark.Checksum:
		return damaged("frame %d is not the one that was acknowledged", f.Number)
	case f.Number == last.Number && f.Checksum != last.checksum:
		return damaged("frame %d is not what it was", f.Number)
	case p.head.Number == 0 && f.Number != p.trims.begin:
		return damaged("frame %d is missing", p.trims.begin)
	case p.head.Number == 0:
		return nil
	case f.Previous != p.head.checksum:
		return damaged("frame %d does not follow the frame before it", f.Number)
	case f.Time < p.head.Time, f.Epoch < p.head.Epoch, f.Begin < p.head.Begin:
		return damaged("frame %d goes back", f.Number)
	}
	return nil
}

// replay applies a frame that was read, which is the last one from now on.
func (p *Partition) replay(f *frame.Frame) error {
	for op, err := range f.Ops() {
		if err == nil {
			err = p.state.Apply(&f.Header, op)
		}
		if err != nil {
			return damaged("frame %d: %v", f.Number, err)
		}
	}
	p.head = head{f.Header, f.Checksum, f.Number}
	p.trims.appended(f.Number, f.Size)
	p.trims.advance(f.Begin)
	p.cfg.Progress.Read.Add(1)
	return nil
}
