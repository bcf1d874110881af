package dq

import (
	"context"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// job identifies a job that is due.
type job struct {
	key string
	id  durable.ID
}

// due holds the jobs that are due and wait for a consumer, in the order in which they became due. The zero value is
// empty.
type due struct {
	mu   sync.Mutex
	jobs []job         // guarded by mu
	more chan struct{} // closed by the next put; nil if no take waits. guarded by mu
}

func (d *due) put(j job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs = append(d.jobs, j)
	if d.more != nil {
		close(d.more)
		d.more = nil
	}
}

// take waits for a job. ok is false if ctx has ended, even if there is a job.
func (d *due) take(ctx context.Context) (j job, ok bool) {
	for ctx.Err() == nil {
		j, more, ok := d.first()
		if ok {
			return j, true
		}
		select {
		case <-more:
		case <-ctx.Done():
		}
	}
	return job{}, false
}

// first takes the first job, or returns a channel that the next put closes.
func (d *due) first() (j job, more <-chan struct{}, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.jobs) == 0 {
		if d.more == nil {
			d.more = make(chan struct{})
		}
		return job{}, d.more, false
	}
	j, d.jobs[0] = d.jobs[0], job{}
	d.jobs = d.jobs[1:]
	return j, nil, true
}
