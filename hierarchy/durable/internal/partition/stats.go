package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Counts are what has happened since Open.
type Counts struct {
	Set, Moved, Removed, Fired, Failed, Died uint64
	Frames, Bytes                            uint64
	Trimmed                                  uint64 // timers that were written again
}

// Stats is a snapshot of counters and numbers.
func (p *Partition) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{p.counts, p.state.Len(), len(p.firing.attempts), p.state.Dead(), p.trims.total, p.state.Bytes()}
}

// Stats are what Partition.Stats returns.
type Stats struct {
	Counts
	Pending, Running, Dead int
	LogBytes, LiveBytes    int64
}

func (p *Partition) count(k frame.Kind) {
	switch k {
	case frame.Set, frame.SetAt:
		p.counts.Set++
	case frame.Move:
		p.counts.Moved++
	case frame.Remove:
		p.counts.Removed++
	case frame.Fail:
		p.counts.Failed++
	case frame.Die:
		p.counts.Failed++
		p.counts.Died++
	case frame.Keep:
		p.counts.Trimmed++
	}
}
