package partition

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// takeOver appends a takeover to the log, unless the log is seen to be damaged.
func (p *Partition) takeOver(ctx context.Context) (mark journal.Mark, err error) {
	for {
		mark, err = p.mark(ctx)
		if err != nil {
			return mark, err
		}
		h, sum, err := p.lastFrame(ctx, mark)
		if err != nil {
			return mark, err
		}
		err = p.appendTakeover(ctx, h, sum)
		if !errors.Is(err, journal.ErrTaken) { // else another process was faster
			return mark, err
		}
	}
}

// mark reads the mark, or sets the first one of an empty log. So a log that is not empty has one.
func (p *Partition) mark(ctx context.Context) (journal.Mark, error) {
	mark, err := p.cfg.Log.Mark(ctx)
	if !errors.Is(err, journal.ErrAbsent) {
		return mark, err
	}
	b, err := p.cfg.Log.Bounds(ctx)
	if err != nil {
		return mark, err
	}
	if b.Last > 0 {
		return mark, damaged("its mark is missing")
	}
	return mark, p.cfg.Log.SetMark(ctx, mark)
}

// lastFrame is the header and the checksum of the last frame, or of what is before the first one.
func (p *Partition) lastFrame(ctx context.Context, mark journal.Mark) (h frame.Header, sum uint32, err error) {
	b, err := p.cfg.Log.Bounds(ctx)
	switch {
	case err != nil:
		return h, 0, err
	case b.Last < mark.Number:
		return h, 0, damaged("it ends at frame %d, and frame %d was acknowledged", b.Last, mark.Number)
	case b.Last == 0:
		return frame.Header{Begin: 1}, 0, nil
	case b.First > b.Last:
		return h, 0, damaged("all its frames are missing, up to %d", b.Last)
	}
	data, err := p.cfg.Log.Get(ctx, b.Last)
	switch {
	case errors.Is(err, journal.ErrAbsent):
		return h, 0, damaged("its last frame, %d, is missing", b.Last)
	case err != nil:
		return h, 0, err
	}
	f, err := p.parse(data, b.Last)
	if err == nil && b.First > f.Begin {
		err = damaged("it begins at frame %d, and must begin at %d", b.First, f.Begin)
	}
	return f.Header, f.Checksum, err
}

// appendTakeover appends the takeover after the frame with header h, which is head then.
func (p *Partition) appendTakeover(ctx context.Context, h frame.Header, sum uint32) error {
	last := h.Number
	h = frame.Header{
		Number: last + 1, Epoch: last + 1, Owner: rand.Uint64(), Begin: h.Begin,
		Time: max(h.Time, p.time.now()), Previous: sum,
		Partition: uint16(p.cfg.Partition), Partitions: uint16(p.cfg.Partitions),
	}
	var w frame.Builder
	w.Start(h)
	w.Add(&frame.Op{Kind: frame.Takeover, Text: []byte(p.cfg.Owner)})
	b, sum := w.Finish()
	if err := p.cfg.Patience.Commit(ctx, p.cfg.Log, last, b); err != nil {
		return err
	}
	p.head, p.epoch = head{h, sum}, h.Epoch
	return nil
}
