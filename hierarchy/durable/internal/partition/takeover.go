package partition

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// own takes the log over, after it has read the frames that the last owner has written meanwhile.
func (p *Partition) own(ctx context.Context) error {
	clean, err := p.takeOver(ctx)
	if err != nil {
		return err
	}
	if err := p.suspect(ctx, clean); err != nil {
		return err
	}
	p.marks.acknowledged(&p.core.Head)
	return nil
}

// markFirst writes the mark of the takeover before anything else is done, so that whoever opens a log learns at once if
// it can't be written to.
func (p *Partition) markFirst(ctx context.Context) error {
	if err := p.cfg.Log.SetMark(ctx, p.marks.last()); err != nil {
		return fmt.Errorf("setting the mark: %w", err)
	}
	return nil
}

// takeOver appends a takeover after the last frame. If another process has taken the log over first, takeOver reads on
// and tries again. clean reports whether the last owner ended with a Close.
func (p *Partition) takeOver(ctx context.Context) (clean bool, err error) {
	for {
		if err := p.catchUp(ctx); err != nil {
			return false, err
		}
		clean = p.core.Head.Number == 0 || p.core.State.Clean()
		p.time = newOwnTime(p.cfg.Clock, p.core.Head.Time, p.cfg.MaxAhead)
		if err := p.cfg.Fits(); err != nil {
			return false, err
		}
		p.core.Owned = p.time.wall()
		before := p.core.Head.Time
		switch err := p.appendTakeover(ctx); {
		case err == nil:
			p.core.State.Own(before, p.core.Head.Time)
			return clean, nil
		case !isTaken(err):
			return clean, err
		}
	}
}

// mark reads the mark. In an empty log it sets the first mark, so that every log with frames has a mark. If strangers
// have overwritten the mark, the result is the zero Mark: the chain of frames is still checked, and the next owner
// writes the mark again.
func (p *Partition) mark(ctx context.Context) (storage.Mark, error) {
	mark, err := p.cfg.Log.Mark(ctx)
	if errors.Is(err, storage.ErrStranger) {
		p.marks.warn("durable: somebody else has written over the mark", err)
		return storage.Mark{}, nil
	}
	if !errors.Is(err, storage.ErrAbsent) {
		return mark, err
	}
	b, err := p.cfg.Log.Bounds(ctx)
	if err != nil {
		return mark, err
	}
	last, err := p.reader.last(ctx, b)
	if err == nil && (last.Number > 0 || b.First > b.Last && b.Last > 0) {
		err = damaged("its mark is missing")
	}
	if err != nil {
		return mark, err
	}
	return mark, p.cfg.Log.SetMark(ctx, mark)
}

// appendTakeover appends a takeover after the last frame that was read, and applies it.
func (p *Partition) appendTakeover(ctx context.Context) error {
	h := p.core.Head.Next()
	h.Epoch, h.Owner, h.Time = h.Number, rand.Uint64(), max(h.Time, p.time.now())
	h.Partition, h.Partitions = uint16(p.cfg.Partition), uint16(p.cfg.Partitions)
	if p.core.Head.Number == 0 {
		h.Begin = h.Number
	}
	var w frame.Builder
	w.Start(h)
	w.Add(&frame.Op{Kind: frame.Takeover, Text: []byte(p.cfg.Owner)})
	b, _ := w.Finish()
	b, err := p.writer.commitSoon(ctx, b)
	if err != nil {
		return err
	}
	f, err := frame.Parse(b)
	if err != nil {
		return err
	}
	p.core.Epoch = f.Epoch
	return p.replay(&f)
}

// suspect finds the timers whose handlers may have crashed the last owner's process. An attempt has failed if the log
// has its begin but not its end. If the log does not end with a Close, the timers that are due now may have had
// attempts in progress, so their attempts are written to the log before they begin.
func (p *Partition) suspect(ctx context.Context, clean bool) error {
	begun := p.core.State.Begun()
	if err := p.writer.failBegun(ctx, begun); err != nil {
		return err
	}
	if !clean {
		p.core.Review(p.time.both())
	}
	return nil
}

// failBegun writes to the log that the attempts in progress at the end of the last owner's process have failed.
func (w *writer) failBegun(ctx context.Context, begun []state.Ref) error {
	for len(begun) > 0 {
		w.startFrame()
		begun = w.core.FailBegun(begun)
		for _, d := range w.core.Deaths {
			w.cfg.warnOfDeath(&d.Event)
			if w.firer.mayDie(&d.Event) {
				w.firer.lost = append(w.firer.lost, d)
			}
		}
		b, _ := w.core.Finish()
		b, err := w.commitSoon(ctx, b)
		if err != nil {
			return err
		}
		if err := w.apply(b, 0); err != nil {
			return err
		}
	}
	return nil
}
