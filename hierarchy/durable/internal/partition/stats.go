package partition

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// Stats returns a snapshot of the counters and other figures.
func (p *Partition) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := Stats{
		Counts: p.core.Counts, Pending: p.core.State.Len(), Running: p.core.Numbers().Running, Stuck: p.firer.stuck, Dead: p.core.State.Dead(),
		LogBytes: p.core.Total, LiveBytes: p.core.State.Bytes(),
	}
	st.Fired = p.firer.fired
	st.Lateness.Merge(p.firer.lateness)
	st.Commit.Merge(p.writer.commits)
	st.Skew = time.Duration(p.time.skew())
	st.Unavailable = p.Silent()
	return st
}

// Ahead returns how far the owner's time was ahead of the wall clock at the takeover.
func (p *Partition) Ahead() time.Duration { return time.Duration(p.time.ahead) }

// AddPast adds the counts of another partition, which has ended.
func (st *Stats) AddPast(past *Stats) {
	c, o := &st.Counts, &past.Counts
	c.Set += o.Set
	c.Moved += o.Moved
	c.Removed += o.Removed
	c.Fired += o.Fired
	c.Failed += o.Failed
	c.Frames += o.Frames
	c.Bytes += o.Bytes
	c.Trimmed += o.Trimmed
	c.Died += o.Died
	c.Expired += o.Expired
	st.Lateness.Merge(past.Lateness)
	st.Commit.Merge(past.Commit)
}

// Stats are what Partition.Stats returns.
type Stats struct {
	core.Counts
	Pending, Running, Dead int
	Stuck                  int // handlers of attempts that were given up
	LogBytes, LiveBytes    int64
	Lateness               hierarchy.Histogram // the lateness of attempts when they began
	Commit                 hierarchy.Histogram // how long frames were in flight, from sending to acknowledgement
	Unavailable            time.Time           // time since which the log has not answered; zero if it answers
	Skew                   time.Duration       // how far the wall clock is ahead of the owner's time
}

// Circles returns how the waiting timers are distributed over the circles, by the time since the Unix epoch.
func (p *Partition) Circles() []hierarchy.CircleStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.State.Circles(p.time.now(), p.time.wall())
}

// Look compares the bounds of the log with what this owner has written. It returns ErrDamaged if acknowledged frames
// are missing, because somebody has deleted the log, or a part of it. The server that answers may also be behind, so
// look again before acting on that. Look does not read the frames themselves.
func (p *Partition) Look(ctx context.Context) error {
	before := p.lastHead()
	b, err := p.reader.bounds(ctx)
	after := p.lastHead() // read after the bounds: frames that this owner deleted meanwhile are before this Begin
	switch {
	case err != nil:
	case b.Last < before.Number:
		err = damaged("it ends at frame %d, and frame %d was acknowledged", b.Last, before.Number)
	case b.First > after.Begin:
		err = damaged("it begins at frame %d, and must begin at %d", b.First, after.Begin)
	}
	return p.cfg.named(err)
}

// Last returns the number of the last frame that was acknowledged.
func (p *Partition) Last() uint64 { return p.lastHead().Number }

// InDoubt reports whether the frame in flight has no clear answer yet.
func (p *Partition) InDoubt() bool { return p.writer.silence.any() }

func (p *Partition) lastHead() core.Head {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.Head
}

// Silent returns since when the frame in flight has had no clear answer, or the zero time.
func (p *Partition) Silent() (since time.Time) { return p.writer.silence.since() }
