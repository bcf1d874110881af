package partition

import (
	"slices"
	"time"
)

// late is the calls of a frame that was acknowledged when the lease had ended. They have taken hold, but who is
// not the owner by its lease does not answer. So they wait until it returns, for as long as other calls wait.
type late struct {
	calls  []*Call
	giveUp *time.Timer
}

// answerLater has the calls of a frame wait for the lease.
func (p *Partition) answerLater(w *written) {
	l := &late{calls: slices.Clone(w.calls)}
	w.calls = w.calls[:0]
	p.mu.Lock()
	l.giveUp = time.AfterFunc(p.cfg.GiveUp, func() { p.endLate(l) })
	p.late = append(p.late, l)
	p.mu.Unlock()
	if p.tenure() { // Resume may have been called just before
		p.answerLate()
	}
}

// answerLate answers all calls that wait for the lease, which has returned.
func (p *Partition) answerLate() {
	for _, l := range p.takeLate() {
		for _, c := range l.calls {
			c.answer(c.result)
		}
	}
}

// loseLate ends all calls that wait for the lease, which will not return.
func (p *Partition) loseLate() {
	for _, l := range p.takeLate() {
		l.lose()
	}
}

// endLate gives up the calls of one frame, unless they were answered.
func (p *Partition) endLate(l *late) {
	p.mu.Lock()
	i := slices.Index(p.late, l)
	if i >= 0 {
		p.late = slices.Delete(p.late, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		l.lose()
	}
}

func (p *Partition) takeLate() []*late {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.late
	p.late = nil
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
