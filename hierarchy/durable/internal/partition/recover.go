package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// recover takes the log over, reads it, and finds out what was under way when it ended.
func (p *Partition) recover(ctx context.Context) error {
	mark, err := p.takeOver(ctx)
	if err != nil {
		return err
	}
	if err := p.read(ctx, mark); err != nil {
		return err
	}
	p.mu.Lock() // a mark may be due already, for what was written since
	p.acked = journal.Mark{Number: p.head.Number, Checksum: p.head.checksum}
	mark = p.acked
	p.mu.Unlock()
	if err := p.cfg.Log.SetMark(ctx, mark); err != nil {
		return fmt.Errorf("setting the mark: %w", err)
	}
	return nil
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// parse parses the frame with that number.
func (p *Partition) parse(data []byte, number uint64) (frame.Frame, error) {
	f, err := frame.Parse(data)
	switch {
	case errors.Is(err, frame.ErrVersion):
		return f, fmt.Errorf("frame %d: %w", number, err)
	case err != nil:
		return f, damaged("frame %d: %v", number, err)
	case f.Number != number:
		return f, damaged("frame %d says that it is frame %d", number, f.Number)
	case int(f.Partition) != p.cfg.Partition || int(f.Partitions) != p.cfg.Partitions:
		return f, damaged("frame %d is of partition %d of %d", number, f.Partition, f.Partitions)
	}
	return f, nil
}

// read reads the log up to the takeover, and checks it.
func (p *Partition) read(ctx context.Context, mark journal.Mark) error {
	frames := make(chan frame.Frame, 64)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		defer close(frames)
		failed <- p.readFrames(ctx, frames)
	}()
	p.trims.begin = p.head.Begin
	p.cfg.Progress.Of.Add(int64(p.head.Number - p.head.Begin + 1))
	var before frame.Frame
	clean := true
	for f := range frames {
		if err := p.follows(&before, &f, mark); err != nil {
			return err
		}
		before = f
		if f.Number == p.head.Number {
			clean = f.Number == 1 || p.state.Clean()
		}
		if err := p.replay(&f); err != nil {
			return err
		}
	}
	if err := <-failed; err != nil {
		return err
	}
	p.state.Build(p.head.Time)
	return p.suspect(ctx, clean)
}

// readFrames reads and parses the frames.
func (p *Partition) readFrames(ctx context.Context, frames chan<- frame.Frame) error {
	number := p.head.Begin
	for data, err := range p.cfg.Log.Read(ctx, number, p.head.Number) {
		if errors.Is(err, journal.ErrAbsent) {
			return damaged("frame %d is missing", number)
		}
		if err != nil {
			return err
		}
		f, err := p.parse(data, number)
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

// follows checks that f can come after the frame before, if that was read.
func (p *Partition) follows(before, f *frame.Frame, mark journal.Mark) error {
	switch {
	case f.Number == mark.Number && f.Checksum != mark.Checksum:
		return damaged("frame %d is not the one that was acknowledged", f.Number)
	case f.Number == p.head.Number && f.Checksum != p.head.checksum:
		return damaged("frame %d is not the takeover that was written", f.Number)
	case before.Number == 0:
		return nil
	case f.Previous != before.Checksum:
		return damaged("frame %d does not follow the frame before it", f.Number)
	case f.Time < before.Time, f.Epoch < before.Epoch, f.Begin < before.Begin:
		return damaged("frame %d goes back", f.Number)
	}
	return nil
}

// replay applies a frame that was read.
func (p *Partition) replay(f *frame.Frame) error {
	for op, err := range f.Ops() {
		if err == nil {
			err = p.state.Apply(&f.Header, op)
		}
		if err != nil {
			return damaged("frame %d: %v", f.Number, err)
		}
	}
	p.trims.appended(f.Size)
	p.cfg.Progress.Read.Add(1)
	return nil
}
