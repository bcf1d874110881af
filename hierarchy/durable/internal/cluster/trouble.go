package cluster

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// What a slot knows of the trouble with its partition, and whom it tells.

// trouble is why a partition was not opened at the last try, and how many frames had been read then.
type trouble struct {
	err  error
	read int64
}

func (l *slot) setTrouble(err error) { l.trouble.Store(&trouble{err, l.progress.Read.Load()}) }

// unavailable is since when the partition should be open here, and is not: zero if that is not so.
func (l *slot) unavailable() time.Time {
	t, since := l.task(), l.failing.Load()
	if since == nil || !l.wants(t) && t.claim.Holder != l.me() {
		return time.Time{}
	}
	return *since
}

// tell logs why the partition can't be taken over. An operator must know what does not pass.
func (l *slot) tell(err error) {
	if l.retry.Pause == lastPause && l.isNews(err) {
		l.c().cfg.Logger.Warn("durable: a partition can't be taken over", "partition", l.at, "err", err)
		return
	}
	l.c().cfg.Logger.Debug("durable: a partition can't be taken over yet", "partition", l.at, "err", err)
}

// isDamaged reports whether the log has seemed to be damaged for so long that what has answered is not
// only behind.
func (l *slot) isDamaged(err error) bool {
	if !errors.Is(err, partition.ErrDamaged) {
		return false
	}
	if l.doubtful.IsZero() {
		l.doubtful = time.Now()
	}
	return time.Since(l.doubtful) >= l.c().cfg.Behind
}

// isNews reports whether trouble was not told yet.
func (l *slot) isNews(err error) bool {
	was := l.told
	l.told = err.Error()
	return was != l.told
}
