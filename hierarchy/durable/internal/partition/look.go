package partition

import (
	"context"
	"time"
)

// Look compares the log with what this owner has written. An error that is ErrDamaged says that frames
// are missing that were acknowledged: somebody has deleted the log, or a part of it. What answers may
// also be behind, so look again. The frames themselves are not read.
func (p *Partition) Look(ctx context.Context) error {
	before := p.lastHead()
	b, err := p.reader.bounds(ctx)
	after := p.lastHead() // what this owner has deleted meanwhile is before this Begin
	switch {
	case err != nil:
	case b.Last < before.Number:
		err = damaged("it ends at frame %d, and frame %d was acknowledged", b.Last, before.Number)
	case b.First > after.Begin:
		err = damaged("it begins at frame %d, and must begin at %d", b.First, after.Begin)
	}
	return p.named(err)
}

// Last is the number of the last frame that was acknowledged.
func (p *Partition) Last() uint64 { return p.lastHead().Number }

// InDoubt reports whether there is no clear answer yet for the frame that is under way.
func (p *Partition) InDoubt() bool { return p.writer.silence.any() }

func (p *Partition) lastHead() head {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writer.head
}

// Break is Abandon for a log that seems to be damaged. It writes the mark first, which says what must be in
// the log. Whether it is damaged finds out who reads it next, so calls are not told here.
func (p *Partition) Break() {
	if err := p.marks.write(); err != nil {
		p.marks.warn(markFailed, err)
	}
	p.Abandon()
}

// Silent is since when a frame has been without a clear answer, or zero.
func (p *Partition) Silent() (since time.Time) { return p.writer.silence.since() }
