package durable

import (
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Health returns nil if this process does everything that it should: it owns the partitions that it should own, their
// logs answer and are not damaged, it holds its lease, and there is room for handlers under Concurrency. Otherwise it
// returns joined errors that describe what is wrong, with which partition, and since when. They are for people, except
// that errors.Is finds ErrDamaged, and ErrClosed after Shutdown or Close has begun.
//
// Health sends no request, and costs little. So it does not notice at once that servers do not answer. It notices that
// when a frame has had no answer for a second, or when the lease has ended, three quarters of Config.Lease after the
// last renewal. The places for handlers count as taken when none has been free for a second. Dead timers do not count;
// use an alarm on Stats for them.
//
// In a caller, Health checks that there is a connection, and that each partition has a living owner, as far as the
// caller knows: an owner that was killed counts as living for 1.25 times its lease.
//
// Health answers whether a process should get work, not whether it should be restarted. A restart helps only if
// handlers hang, or if the connection is closed for good.
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

// fullAfter is the time for which all places for handlers must have been taken before Health reports that. It is not 0
// because a burst of timers takes all places for a moment.
const fullAfter = time.Second

var errSilentLog = errors.New("its log does not answer")

func (d *dir) Health() []error {
	d.owns()
	if d.closed.Load() {
		return []error{core.ErrClosed}
	}
	if wrong := d.wrong.Load(); wrong != nil {
		return []error{cluster.Since(wrong.since, wrong.error, nil)}
	}
	since, problem := d.log.Problem()
	if problem == nil {
		since, problem = d.part.Silent(), errSilentLog
	}
	if since.IsZero() {
		return nil
	}
	return []error{storage.In(d.cfg.dir, cluster.Since(since, problem, nil))}
}
