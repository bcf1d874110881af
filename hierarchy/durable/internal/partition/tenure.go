package partition

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// tenure checks whether this process still holds the log by its lease, and keeps the calls that wait for the lease to
// return.
type tenure struct {
	cfg     *Config
	noticed atomic.Bool // an attempt or a call has waited for the lease since the last Resume

	mu   mutex
	late []*late
}

// late has the calls of a frame that was acknowledged after the lease had ended. The calls are committed, but a process
// without a lease must not answer. So they wait until the lease returns, but not longer than GiveUp in all.
type late struct {
	calls  []*Pending
	frame  frame.Header
	giveUp *time.Timer
}

// holds reports whether an attempt may begin, or a call may be answered, now. If it reports false, Resume must be
// called later.
func (t *tenure) holds() bool {
	if t.cfg.Tenure() {
		return true
	}
	t.noticed.Store(true)
	return t.cfg.Tenure() // the lease may have returned before noticed was set
}

// resume answers the calls that wait, and reports whether any call or attempt may have waited.
func (t *tenure) resume() bool {
	if !t.noticed.Swap(false) {
		return false
	}
	t.answer()
	return true
}

// answerLater keeps the calls of a frame, which have waited since a time, until the lease returns.
func (t *tenure) answerLater(calls []*Pending, h frame.Header, since time.Time) {
	l := &late{calls: slices.Clone(calls), frame: h}
	t.mu.Lock()
	l.giveUp = time.AfterFunc(t.cfg.GiveUp-time.Since(since), func() { t.giveUp(l) })
	t.late = append(t.late, l)
	t.mu.Unlock()
	if t.holds() { // Resume may have been called just before
		t.answer()
	}
}

// answer answers all calls that wait for the lease, which has returned.
func (t *tenure) answer() {
	for _, l := range t.take() {
		for _, c := range l.calls {
			c.answer(c.Answer(&l.frame))
		}
	}
}

// lose ends all calls that wait for the lease, which will not return.
func (t *tenure) lose() {
	for _, l := range t.take() {
		l.lose()
	}
}

// giveUp ends the calls of one frame, unless they were answered.
func (t *tenure) giveUp(l *late) {
	t.mu.Lock()
	i := slices.Index(t.late, l)
	if i >= 0 {
		t.late = slices.Delete(t.late, i, i+1)
	}
	t.mu.Unlock()
	if i >= 0 {
		l.lose()
	}
}

// take returns the calls that wait, and stops their timers.
func (t *tenure) take() []*late {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.late
	t.late = nil
	for _, l := range all {
		l.giveUp.Stop()
	}
	return all
}

func (l *late) lose() {
	for _, c := range l.calls {
		c.answer(errLate)
	}
}
