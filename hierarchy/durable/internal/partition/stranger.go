package partition

import (
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// How an owner passes messages in its log that are not frames of it. Whoever may publish to the subject of a
// log can put one there. DESIGN.md says why it is no damage.

// errStranger is for a message that is none of the log's frames.
var errStranger = errors.New("it is no frame of this log")

func (p *Partition) isStranger(data []byte, number uint64) bool {
	_, err := p.cfg.parse(data, number)
	return errors.Is(err, errStranger)
}

// commitFrame appends a frame to the end of the log, and returns it as it is there: if a stranger has taken
// its place, it has a later number.
func (p *Partition) commitFrame(ctx context.Context, patience journal.Patience, b []byte) ([]byte, error) {
	patience.Stranger = p.isStranger
	for {
		err := patience.Commit(ctx, p.cfg.Log, p.head.end, b)
		if !errors.Is(err, journal.ErrStranger) {
			return b, err
		}
		p.passStrangers(ctx)
		if b, err = frame.Renumber(b, p.head.end+1); err != nil {
			return nil, err
		}
	}
}

// passStrangers is called when a stranger's message follows the end of the log. It goes on to the last of
// those that follow each other. What can't be read now is left to the next append: that finds out whether the log is
// silent, and callers wait meanwhile.
func (p *Partition) passStrangers(ctx context.Context) {
	ctx, cancel := p.cfg.Patience.Asking(ctx)
	defer cancel()
	first := p.head.end + 1
	last := first
	if b, err := p.cfg.Log.Bounds(ctx); err == nil {
		for data, err := range p.cfg.Log.Read(ctx, last+1, b.Last) {
			if err != nil || !p.isStranger(data, last+1) {
				break
			}
			last++
		}
	}
	p.mu.Lock()
	p.head.end = last
	p.mu.Unlock()
	p.tellStrangers(first, last-first+1)
}

// tellStrangers logs now and then that messages were left out.
func (p *Partition) tellStrangers(first, count uint64) {
	if count > 0 && p.strange.due() {
		p.cfg.Logger.Warn("durable: somebody else has written to the log, which is left out",
			"partition", p.cfg.Partition, "first", first, "messages", count)
	}
}

// lastOf returns the last frame of a log with these bounds, or one with number 0 if it has only strangers'
// messages.
func (p *Partition) lastOf(ctx context.Context, b journal.Bounds) (last frame.Frame, err error) {
	for size := uint64(1); b.First <= b.Last; size = min(2*size, 1<<10) {
		number, found := b.First, false
		if b.Last-b.First >= size {
			number = b.Last - size + 1
		}
		from := number
		for data, failed := range p.cfg.Log.Read(ctx, number, b.Last) {
			if errors.Is(failed, journal.ErrAbsent) {
				return last, p.lastMissing(ctx, number)
			}
			if failed != nil {
				return last, failed
			}
			if f, failed := p.cfg.parse(data, number); !errors.Is(failed, errStranger) {
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

// lastMissing is the error for a last frame that can't be read. The owner of a log that is being followed may
// have trimmed it since the bounds were read.
func (p *Partition) lastMissing(ctx context.Context, number uint64) error {
	switch b, err := p.cfg.Log.Bounds(ctx); {
	case err != nil:
		return err
	case number < b.First && b.First <= b.Last:
		return errTrimmed
	}
	return damaged("its last frame, %d, is missing", number)
}
