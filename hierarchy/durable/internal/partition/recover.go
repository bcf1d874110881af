package partition

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
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

// suspect finds out which timers may have ended the process. Attempts that were written, and have
// no end, have failed. After a log without Close, what is due now may have been under way.
func (p *Partition) suspect(ctx context.Context, clean bool) error {
	begun := p.state.Begun()
	if err := p.failBegun(ctx, begun); err != nil {
		return err
	}
	if clean {
		return nil
	}
	for now, wall := p.time.now(), p.time.wall(); ; {
		d, ok := p.state.Pop(now, wall)
		if !ok {
			return nil
		}
		t := p.state.Timer(d.Ref)
		j := job{ref: d.Ref, id: t.ID, attempt: (t.Attempt + 1) | mustBeWritten, due: d}
		if _, ok := p.firing.suspects[d.Ref]; ok {
			delete(p.firing.suspects, d.Ref)
			j.suspect = true
			p.firing.accused = append(p.firing.accused, j)
			continue
		}
		p.firing.careful = append(p.firing.careful, j)
	}
}

var errEnded = errors.New("the process ended during the attempt")

// failBegun writes that the attempts have failed which were under way when the process ended.
func (p *Partition) failBegun(ctx context.Context, begun []state.Ref) error {
	p.firing.suspects = make(map[state.Ref]frame.ID)
	for portion := range slices.Chunk(begun, MaxOps) {
		p.draft.start(p.head, p.time.now())
		for _, ref := range portion {
			t := p.state.Timer(ref)
			it := item{kind: failed, job: job{ref: ref, id: t.ID, key: []byte(t.Key), attempt: t.Attempt}}
			it.wait, it.cause = p.cfg.Backoff(int(t.Attempt)), errEnded
			if p.draft.attempt(&it, &p.cfg) {
				p.firing.suspects[ref] = t.ID
				p.tellDeath(&it)
			}
		}
		b, sum := p.draft.Finish()
		if err := p.cfg.Patience.Commit(ctx, p.cfg.Log, p.head.Number, b); err != nil {
			return err
		}
		if err := p.apply(b, sum, 0); err != nil {
			return err
		}
	}
	return nil
}
