package service

import (
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// pacer lets the attempts of all servers begin for the limits that this server has: those whose names, as keys, are in its
// partitions. So each limit has one pacer, and another one if the partition moves.
type pacer struct {
	owns  func(limits.Scope) bool
	limit func(limits.Scope) limits.Limit
	tell  func(limits.Scope) // has all servers tell what they hold
	self  string             // this server, which tells it always, and not only the others

	mu    sync.Mutex
	paced map[limits.Scope]*paced
	ended bool
}

// paced is a limit of a pacer.
type paced struct {
	*pacer
	scope   limits.Scope
	meter   limits.Meter
	holders map[string]*holder // by server
	asked   []*asked           // who waits, in the order of arrival
	from    time.Time          // by when the others have told what they hold
	knows   bool               // what this server holds
	alarm   *time.Timer
}

// holder is a server that holds some of what was granted: attempts that it makes, or may begin.
type holder struct {
	held  int
	heard time.Time
}

// asked is a server that waits for attempts.
type asked struct {
	server string
	want   int
	until  time.Time
	answer func(granted int)
}

const (
	// questionTime is how long a question waits for an attempt, until the server asks again.
	questionTime = time.Second
	// tellTime is how long a new pacer waits until it has heard what the servers hold.
	tellTime = onceTime
	// holdTime is after how long a server holds nothing that was not heard. It repeats what it holds each askEvery.
	holdTime = 3 * askEvery
)

func newPacer(self string, owns func(limits.Scope) bool, limit func(limits.Scope) limits.Limit, tell func(limits.Scope)) *pacer {
	return &pacer{self: self, owns: owns, limit: limit, tell: tell, paced: make(map[limits.Scope]*paced)}
}

// ask grants attempts to a server that holds some already, and wants others: answer is called with how many it gets, as
// soon as it gets one, or with 0 after questionTime. If this server is not the pacer, it reports false.
// Of a server, only the last question is answered.
func (p *pacer) ask(s limits.Scope, server string, want, held int, answer func(granted int)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.of(s)
	if one == nil {
		return false
	}
	now := time.Now()
	one.holders[server] = &holder{held, now}
	one.asked = slices.DeleteFunc(one.asked, func(a *asked) bool { return a.server == server })
	one.asked = append(one.asked, &asked{server, want, now.Add(questionTime), answer})
	one.grant(now)
	return true
}

// hold counts what a server holds.
func (p *pacer) hold(s limits.Scope, server string, held int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.of(s); one != nil {
		one.holders[server] = &holder{held, time.Now()}
		one.knows = one.knows || server == p.self
		one.grant(time.Now())
	}
}

// end counts attempts of a server that have ended, or that it does not need.
func (p *pacer) end(s limits.Scope, server string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.paced[s]
	if one == nil || one.holders[server] == nil {
		return
	}
	h := one.holders[server]
	h.held = max(0, h.held-n)
	one.grant(time.Now())
}

// of returns the paced limit with a scope, or nil if this server has none to pace. mu is held.
func (p *pacer) of(s limits.Scope) *paced {
	l := p.limit(s)
	one := p.paced[s]
	if !p.owns(s) || l.IsZero() || p.ended {
		if one != nil {
			one.alarm.Stop()
			delete(p.paced, s)
		}
		return nil
	}
	now := time.Now()
	if one == nil {
		one = &paced{pacer: p, scope: s, holders: make(map[string]*holder), from: now.Add(tellTime)}
		one.alarm = time.AfterFunc(tellTime, one.ring)
		p.paced[s] = one
		p.tell(s)
	}
	one.meter.Set(l, now)
	return one
}

// ring is called when there may be attempts to grant, and when a question was not answered in time.
func (one *paced) ring() {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.pacer.paced[one.scope] == one && one.of(one.scope) == one {
		one.grant(time.Now())
	}
}

// grant grants what there is. mu is held.
func (one *paced) grant(now time.Time) {
	one.forget(now)
	for len(one.asked) > 0 && one.knows && !now.Before(one.from) {
		first := one.asked[0]
		n := min(first.want, one.meter.Room(now))
		if n == 0 {
			break
		}
		for range n {
			one.meter.Begin(now)
		}
		one.holders[first.server].held += n
		one.asked = one.asked[1:]
		first.answer(n)
	}
	if len(one.asked) > 0 {
		one.alarm.Reset(one.next(now))
	}
}

// forget forgets servers that were not heard for long, and answers those that have waited for long.
func (one *paced) forget(now time.Time) {
	held := 0
	for server, h := range one.holders {
		if now.Sub(h.heard) > holdTime {
			delete(one.holders, server)
			continue
		}
		held += h.held
	}
	one.meter.Count(held)
	one.asked = slices.DeleteFunc(one.asked, func(a *asked) bool {
		late := !now.Before(a.until)
		if late {
			a.answer(0)
		}
		return late || one.holders[a.server] == nil
	})
}

// next returns when grant has something to do again at the latest, unless an attempt ends.
func (one *paced) next(now time.Time) time.Duration {
	wait := one.asked[0].until.Sub(now)
	if ahead := one.from.Sub(now); ahead > 0 {
		return min(wait, ahead)
	}
	if ahead := one.meter.Wait(now); ahead > 0 {
		return min(wait, ahead)
	}
	return wait
}

// close ends all alarms.
func (p *pacer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, one := range p.paced {
		one.alarm.Stop()
	}
}
