package member

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// late is what a watch shows at a time.
type late struct {
	at time.Duration
	storage.Change
}

// watch is Member.watch.
func (p *member) watch() {
	for p.sleep(testLease / 100) {
		if p.m != nil && p.m.ctx.Err() == nil && !p.cut {
			p.follow(p.m)
			p.watching, p.mute = false, false
		}
	}
}

// follow is watching.follow.
func (p *member) follow(m *Member) {
	w := newWatching(m, func() {}, nil)
	defer w.timer.Stop()
	p.beginWatch()
	for p.m == m && m.ctx.Err() == nil && !p.broken {
		select {
		case <-m.acked:
			w.await()
		default:
		}
		select {
		case <-w.timer.C:
			w.logSilence()
			return
		default:
		}
		wait := testLease / 24
		if len(p.inbox) > 0 && !p.cut {
			if wait = max(0, p.inbox[0].at-p.now()); wait == 0 {
				c := p.inbox[0].Change
				p.inbox = p.inbox[1:]
				w.take(c)
				p.muted = mark{at: p.now(), last: max(p.muted.last, m.lease.revision)}
				p.judgeMemory(c.Key)
				if m.ctx.Err() != nil {
					p.wake(p.fibers...)
				}
			}
		}
		if !p.sleep(wait) {
			return
		}
	}
}

// beginWatch begins another watch, which shows all records, the oldest first.
func (p *member) beginWatch() {
	p.watching, p.broken, p.inbox = true, false, nil
	if p.r.IntN(200) < p.level {
		p.silence()
		return
	}
	at, slow := p.now(), time.Duration(1)
	if p.r.IntN(3) == 0 {
		slow = 30
	}
	for _, r := range p.table.all() {
		r.Time = time.Time{}
		at += slow * p.little()
		p.inbox = append(p.inbox, late{at, storage.Change{Record: r}})
	}
	p.inbox = append(p.inbox, late{at, storage.Change{All: true}})
}

// silence has the watch show nothing more.
func (p *member) silence() {
	p.mute, p.muted = p.watching, mark{at: p.now(), last: p.table.last}
}
