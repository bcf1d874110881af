package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// This file shows how this process notices, without a request, that it can't do what it should: it looks at the
// connection, the lease, the watch of the table, and frames without an answer.

var (
	errOpening = errors.New("its log is not open yet")
	errUntaken = errors.New("it can't be taken over")
	errSilence = errors.New("its log does not answer")
	errUnable  = errors.New("this process can't write to its log")
)

// Since returns an error with the problem what, the time since which it exists, and, if why is not nil, the reason why.
func Since(since time.Time, what, why error) error {
	err := fmt.Errorf("%w, since %s", what, since.Format(time.RFC3339))
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return err
}

// health returns an error if this process has no connection.
func (r *router) health() error {
	if r.isEnding() {
		return core.ErrClosed
	}
	if since := r.offline.Load(); since != nil {
		if err := r.cfg.Bus.Offline(); err != nil {
			return Since(*since, err, nil)
		}
	}
	return nil
}

// Health returns what is wrong. It leaves out problems that follow from another one.
func (c *Caller) Health() (all []error) {
	if err := c.health(); err != nil {
		return []error{err}
	}
	for at := range c.owned {
		if since, why := c.unavailable(at); why != nil {
			all = append(all, named(at, Since(since, why, nil)))
		}
	}
	return all
}

// Health returns what is wrong. It leaves out problems that follow from another one.
func (c *Cluster) Health() (all []error) {
	if err := c.health(); err != nil {
		return []error{err}
	}
	s := c.latest()
	if since := s.member.Lapsed(); !since.IsZero() {
		return []error{Since(since, errLease, nil)}
	}
	n := s.now()
	for at, slot := range s.slots {
		if err := slot.health(n.of(at)); err != nil {
			all = append(all, named(at, err))
		}
	}
	return all
}

// health returns an error if there is a problem with a partition that this process owns or should own.
func (l *slot) health(t task) error {
	if why := l.c().broken[l.at].Load(); why != nil {
		return l.wrong(*why, time.Now())
	}
	if since := l.unable.Load(); since != nil {
		return Since(*since, errUnable, l.why())
	}
	if owner := l.c().owned[l.at].Load(); owner != nil {
		if since := owner.Silent(); !since.IsZero() {
			return Since(since, errSilence, l.why())
		}
		return nil
	}
	since, unowned := l.s.member.Unowned(l.at)
	switch {
	case t.claim.Holder == l.me():
		return l.wrong(errOpening, since)
	case unowned && (t.plan == l.me() || t.plan == 0):
		return l.wrong(errNoOwner, since)
	case t.plan == l.me() && l.isFailing():
		return l.wrong(errUntaken, since)
	}
	return nil
}

// isFailing reports whether all attempts to get the partition have failed for at least a lease. Earlier failures don't
// count, since the owner of the partition may still give it away.
func (l *slot) isFailing() bool {
	since := l.failing.Load()
	return since != nil && time.Since(*since) >= l.c().cfg.Member.Lease
}

// wrong returns an error with the problem what of the partition. If attempts to get the partition are failing, the
// error has the time of the first failure, and its reason. Otherwise it has the time since.
func (l *slot) wrong(what error, since time.Time) error {
	if failing := l.failing.Load(); failing != nil {
		return Since(*failing, what, l.why())
	}
	return Since(since, what, nil)
}

// why returns the last trouble with the partition, unless it is damage, or nil.
func (l *slot) why() error {
	if t := l.trouble.Load(); t != nil && !errors.Is(t.err, partition.ErrDamaged) {
		return t.err
	}
	return nil
}

// trouble is the error with which the last attempt to open a partition failed, and the number of frames that had been
// read by then.
type trouble struct {
	err  error
	read int64
}

func (l *slot) setTrouble(err error) { l.trouble.Store(&trouble{err, l.progress.Read.Load()}) }

// unavailable returns the time since which this process has failed to open a partition that it should have open, or
// zero.
func (l *slot) unavailable() time.Time {
	t, since := l.task(), l.failing.Load()
	if since == nil || !l.wants(t) && t.claim.Holder != l.me() {
		return time.Time{}
	}
	return *since
}

// logTrouble logs why the partition can't be taken over. Once the trouble has lasted for some time, it logs a warning,
// so that an operator sees it.
func (l *slot) logTrouble(err error) {
	if l.retry.Pause == lastPause && l.isNews(err) {
		l.c().cfg.Logger.Warn("durable: a partition can't be taken over", "partition", l.at, "err", err)
		return
	}
	l.c().cfg.Logger.Debug("durable: a partition can't be taken over yet", "partition", l.at, "err", err)
}

// isDamaged reports whether the log has seemed to be damaged for at least Config.Behind. In a shorter time, the replica
// that answers may merely be behind.
func (l *slot) isDamaged(err error) bool {
	if !errors.Is(err, partition.ErrDamaged) {
		return false
	}
	if l.doubtful.IsZero() {
		l.doubtful = time.Now()
	}
	return time.Since(l.doubtful) >= l.c().cfg.Behind
}

// isNews reports whether err differs from the trouble that was logged last, and records that err is logged now.
func (l *slot) isNews(err error) bool {
	last := l.logged
	l.logged = err.Error()
	return last != l.logged
}
