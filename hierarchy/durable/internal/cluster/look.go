package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// This file shows how an owner notices that its log, or a part of it, was deleted. The owner looks at the log at
// intervals while it writes, and once more after its last write. If a frame has no clear answer, the owner looks at
// once, and at intervals until there is an answer. An owner that does not write does not look, so that being idle costs
// nothing.

const (
	lookTime = time.Second // the time limit of one look
	// The replica that answers may be behind. So an owner looks lookTimes times, over a fifth of Config.Behind, before
	// it gives the log up.
	lookPart  = 5
	lookTimes = 4
)

// lookEvery returns the interval at which an owner looks at its log. The interval differs between the partitions of a
// process, so that their logs are not all looked at together.
func (l *slot) lookEvery() time.Duration {
	lease := l.c().cfg.Member.Lease
	return lease - lease/32*time.Duration(l.at%8)
}

// doubted is called when a frame has no clear answer.
func (l *slot) doubted(err error) {
	l.setTrouble(err)
	l.doubts.Set()
}

// look checks whether the log has what its owner has written. If frames are missing for some time, the partition ends
// in this process. Then its log is read again, like any log that seems to be damaged, since an operator may restore it.
func (l *slot) look() {
	last := l.owner.Last()
	err := l.compare()
	if errors.Is(err, storage.ErrSettings) && l.isNews(err) {
		l.c().cfg.Logger.Warn("durable: a log has settings that it must not have", "partition", l.at, "err", err)
	}
	switch {
	case err == nil:
		l.seen, l.doubtful = last, time.Time{}
		l.looks.Reset(l.lookEvery())
	case errors.Is(err, partition.ErrDamaged):
		l.suspect(err)
	case !l.doubtful.IsZero(): // the log may be complete again, so the time of a loss is counted from now
		l.doubtful = time.Now()
		l.looks.Reset(l.enough() / lookTimes)
	default:
		l.looks.Reset(l.lookEvery())
	}
}

// lookAgain is look, but does nothing if nothing was written since the last look and nothing is in doubt.
func (l *slot) lookAgain() {
	if l.owner.Last() == l.seen && l.doubtful.IsZero() && !l.owner.InDoubt() {
		l.looks.Reset(l.lookEvery())
		return
	}
	l.look()
}

// compare compares the log with what its owner has written.
func (l *slot) compare() error {
	if !l.s.member.Owns(l.at) || l.s.leaving.Load() != nil { // another owner may have trimmed the log
		return errLease
	}
	ctx, cancel := context.WithTimeout(l.s.ctx, lookTime)
	defer cancel()
	return l.owner.Look(ctx)
}

// suspect ends the partition if frames have been missing from its log for long enough.
func (l *slot) suspect(err error) {
	if l.doubtful.IsZero() {
		l.doubtful = time.Now()
	}
	if time.Since(l.doubtful) < l.enough() {
		l.looks.Reset(l.enough() / lookTimes)
		return
	}
	l.c().cfg.Logger.Warn("durable: a log lacks what was written to it, and is read again", "partition", l.at, "err", err)
	l.owner.Break()
	l.end()
}

// enough returns for how long frames must be missing before the owner gives the log up.
func (l *slot) enough() time.Duration { return l.c().cfg.Behind / lookPart }
