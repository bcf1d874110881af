package durable

import (
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Health returns nil if this process does all that it should: it owns the partitions that it should own, their logs
// answer and are not damaged, it holds its lease, and there is room for handlers under Concurrency. Otherwise it
// returns errors, joined, that say what is wrong, with which partition, and since when. They are for people, except
// that errors.Is finds ErrDamaged, and ErrClosed after Shutdown or Close has begun.
//
// Health sends no request, and costs little. So it notices that servers do not answer when a frame has had no answer for a
// second, or when the lease has ended, three quarters of Config.Lease after the last renewal. Places for handlers count
// as taken when none has been free for a second. Dead timers do not count: an alarm on Stats is for them.
//
// Of a caller, Health says whether it has a connection and each partition an owner that lives, as far as it knows: an
// owner that has been killed counts as living for 1.25 times its lease.
//
// Health answers whether a process should get work, not whether it should be restarted: nothing that it reports is
// mended by that, except handlers that hang and a connection that is closed for good.
func (w *Keyed[K, V]) Health() error {
	errs := w.owners.Health()
	if since, full := w.crew.Full(fullAfter); full {
		what := fmt.Errorf("all %d places for handlers are taken, and none has come free", w.cfg.Concurrency)
		errs = append(errs, cluster.Since(since, what, nil))
	}
	for i, err := range errs {
		errs[i] = ofPackage(err)
	}
	return errors.Join(errs...)
}

// fullAfter is for how long all places for handlers must have been taken. A crowd of timers takes all for a moment.
const fullAfter = time.Second

var errSilentLog = errors.New("its log does not answer")

func (d *dir) Health() (all []error) {
	if d.closed.Load() {
		return []error{partition.ErrClosed}
	}
	since, problem := d.server.ProblemSince()
	if problem != nil {
		all = append(all, storage.In(d.cfg.dir, cluster.Since(since, problem, nil)))
	}
	for at := range d.parts {
		p := &d.parts[at]
		if why := p.why.Load(); why != nil {
			all = append(all, cluster.Since(why.since, why.error, nil))
		} else if since := p.Silent(); !since.IsZero() && problem == nil {
			all = append(all, storage.In(fmt.Sprintf("partition %d", at), cluster.Since(since, errSilentLog, nil)))
		}
	}
	return all
}
