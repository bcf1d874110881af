package partition

import (
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Follower reads a log to which another process may still write, so that little is left to read when it takes the log
// over. Its methods must not be called concurrently. Own or Drop ends it.
type Follower struct{ p *Partition }

// Follow reads all that is in the log now.
func Follow(ctx context.Context, cfg Config) (*Follower, error) {
	p := newPartition(ctx, cfg)
	f := &Follower{p}
	if err := p.catchUp(ctx); err != nil {
		f.Drop()
		return nil, p.cfg.named(err)
	}
	p.core.State.Advance(p.core.Head.Time)
	p.core.State.Build()
	return f, nil
}

// CatchUp reads what was written since the last call, or since Follow.
func (f *Follower) CatchUp(ctx context.Context) error { return f.p.cfg.named(f.p.catchUp(ctx)) }

// Own takes the log over, and begins to fire what is due. It calls publish with the partition before the first timer
// fires, so that Begin can be called for a timer as soon as it is announced. If Own returns an error, the Follower has
// ended. The mark of the takeover is written only after Own, within Config.MarkEvery, because nothing would fire while
// the mark is being written.
func (f *Follower) Own(ctx context.Context, publish func(*Partition)) (*Partition, error) {
	return f.own(ctx, false, publish)
}

func (f *Follower) own(ctx context.Context, markFirst bool, publish func(*Partition)) (*Partition, error) {
	p := f.p
	err := p.own(ctx)
	if err == nil && markFirst {
		err = p.markFirst(ctx)
	}
	if err != nil {
		f.Drop()
		return nil, p.cfg.named(err)
	}
	p.firer.open()
	publish(p)
	go p.writer.write()
	p.firer.mourn()
	p.firer.fire()
	return p, nil
}

// Drop ends the Follower.
func (f *Follower) Drop() {
	p := f.p
	p.firer.cancel()
	p.writer.abandon()
	p.marks.stop()
}

// nearEnd is the largest number of unread frames with which catchUp reads once more and returns. A busy owner writes
// further frames all the time, so catchUp does not wait until none are left.
const nearEnd = 64

// catchUp continues reading after the last frame that was read until it is near the end (see nearEnd). Only a takeover
// determines where the log ends. If the owner trims frames before they are read here, catchUp starts over from the new
// beginning of the log.
func (p *Partition) catchUp(ctx context.Context) error {
	for {
		mark, err := p.mark(ctx)
		if err != nil {
			return err
		}
		last, err := p.reader.end(ctx, mark)
		if err != nil {
			return err
		}
		if last.Number == p.core.Head.Number {
			p.core.Head.End = last.End
			return p.unchanged(last)
		}
		near := last.Number-p.core.Head.Number <= nearEnd
		switch err := p.readTo(ctx, mark, last); {
		case errors.Is(err, errTrimmed):
			p.forget()
		case err != nil || near:
			return err
		}
	}
}

// unchanged checks that the last frame of the log is still the last one that was read.
func (p *Partition) unchanged(last core.Head) error {
	if last.Checksum != p.core.Head.Checksum {
		return damaged("frame %d is not what it was", last.Number)
	}
	return nil
}

// forget discards everything that was read.
func (p *Partition) forget() {
	built, last := p.core.State.Built(), p.core.Head.Time
	p.mu.Lock()
	p.core.Forget()
	p.mu.Unlock()
	if built {
		p.core.State.Advance(last)
		p.core.State.Build()
	}
}

// readTo reads, checks and applies the frames up to and including last.
func (p *Partition) readTo(ctx context.Context, mark storage.Mark, last core.Head) error {
	next := p.core.Head.Number + 1
	if p.core.Head.Number == 0 {
		next = last.Begin
	} else if last.Number < next {
		return damaged("it ends at frame %d, and frame %d was read", last.Number, p.core.Head.Number)
	}
	p.cfg.Progress.Of.Add(int64(last.Number - next + 1))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames := make(chan frame.Frame, 64)
	failed := make(chan error, 1)
	go func() {
		defer close(frames)
		failed <- p.reader.frames(ctx, next, last.Number, frames)
	}()
	for f := range frames {
		err := p.follows(&f, mark, last)
		if err == nil {
			err = p.replay(&f)
		}
		if err != nil {
			return err
		}
	}
	if err := <-failed; err != nil {
		return err
	}
	p.core.Head.End = last.End
	return nil
}

// follows checks that f may follow the last frame that was read, if there is one.
func (p *Partition) follows(f *frame.Frame, mark storage.Mark, last core.Head) error {
	switch {
	case f.Number == mark.Number && f.Checksum != mark.Checksum:
		return damaged("frame %d is not the one that was acknowledged", f.Number)
	case f.Number == last.Number && f.Checksum != last.Checksum:
		return damaged("frame %d is not what it was", f.Number)
	case p.core.Head.Number == 0 && f.Number != last.Begin:
		return damaged("frame %d is missing", last.Begin)
	case p.core.Head.Number == 0:
		return nil
	case f.Previous != p.core.Head.Checksum:
		return damaged("frame %d does not follow the frame before it", f.Number)
	case f.Time < p.core.Head.Time, f.Epoch < p.core.Head.Epoch, f.Begin < p.core.Head.Begin:
		return damaged("frame %d goes back", f.Number)
	}
	return nil
}

// replay applies a frame that was read.
func (p *Partition) replay(f *frame.Frame) error {
	p.mu.Lock() // this may be a takeover that found the log full, with a deletion in progress
	defer p.mu.Unlock()
	if err := p.core.Replay(f); err != nil {
		return damaged("frame %d: %v", f.Number, err)
	}
	p.cfg.Progress.Read.Add(1)
	return nil
}
