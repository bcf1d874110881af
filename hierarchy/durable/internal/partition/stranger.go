package partition

import (
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// How an owner passes messages in its log that are not frames of it. Whoever may publish to the subject of a
// log can put one there. DESIGN.md says why it is no damage.

// commitFrame appends a frame to the end of the log, and returns it as it is there: if a stranger has taken
// its place, it has a later number.
func (p *Partition) commitFrame(ctx context.Context, patience journal.Patience, b []byte) ([]byte, error) {
	patience.Stranger = p.reader.isStranger
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
			if err != nil || !p.reader.isStranger(data, last+1) {
				break
			}
			last++
		}
	}
	p.mu.Lock()
	p.head.end = last
	p.mu.Unlock()
	p.reader.warnOfStrangers(first, last-first+1)
}
