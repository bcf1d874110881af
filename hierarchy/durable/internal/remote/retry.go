package remote

import (
	"slices"
	"time"
)

// aim has tick be called when the next copy of a message is to be sent. mu is held.
func (l *lane) aim() {
	if len(l.flying) == 0 || l.closed { // a timer that fires for nothing does no harm
		return
	}
	at := l.flying[0].sendAt
	for _, m := range l.flying[1:] {
		at = earlier(at, m.sendAt)
	}
	for _, m := range l.flying {
		if i := slices.IndexFunc(m.requests, func(a *request) bool { return !a.ended }); i >= 0 {
			at = earlier(at, m.requests[i].begun.real.Add(l.client.cfg.GiveUp))
		}
	}
	if !l.aimed.IsZero() && !at.Before(l.aimed) {
		return
	}
	l.aimed = at
	if after := max(0, time.Until(at)); l.timer == nil {
		l.timer = time.AfterFunc(after, l.tick)
	} else {
		l.timer.Reset(after)
	}
}

// Moved says that a partition has another owner, or will have at once. What was sent may have reached a process that
// listened no more: so what has no answer is sent again soon.
func (c *Client) Moved(at int) {
	c.lanes[at].moved()
	c.reads.moved(at)
}

func (l *lane) moved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, m := range l.flying {
		if m.quiet.Pause > 0 && m.wanted > 0 { // else it will be sent again soon, or never
			m.doubt = true
			l.delay(m, now, errSilent)
		}
	}
	l.aim()
}

// tick sends copies of the messages that had no answer, and gives up what has waited too long.
func (l *lane) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aimed = (time.Time{}); l.closed {
		return
	}
	if err := l.client.usable(); err != nil {
		l.endAll(err)
		return
	}
	now := time.Now()
	l.expire(now)
	flying := l.flying[:0]
	for _, m := range l.flying {
		due := !m.sendAt.After(now)
		if due && m.wanted == 0 {
			continue
		}
		if flying = append(flying, m); due {
			if m.quiet.Pause > 0 {
				m.why, m.doubt = errSilent, true
			}
			l.publish(m, now)
		}
	}
	clear(l.flying[len(flying):])
	l.flying = flying
	l.send()
}

// expire ends the calls that have waited too long.
func (l *lane) expire(now time.Time) {
	why := errSilent
	for _, m := range l.flying {
		if m.why != nil {
			why = m.why
		}
		for _, a := range m.requests {
			if now.Sub(a.begun.real) >= l.client.cfg.GiveUp {
				l.loosen(m)
				a.end(unavailable(why))
			}
		}
	}
	for c := range l.waiting {
		q := &l.waiting[c]
		for a := q.first; a != nil && now.Sub(a.begun.real) >= l.client.cfg.GiveUp; a = q.first {
			q.remove(a)
			a.end(unavailable(why))
		}
	}
}
