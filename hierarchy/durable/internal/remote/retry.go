package remote

import (
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// aim sets the timer for the next copy of a message, or for the time at which the next call is given up. mu is held.
func (l *lane) aim() {
	if len(l.flying) == 0 || l.closed { // a timer that fires for nothing does no harm
		return
	}
	at := l.flying[0].sendAt
	for _, m := range l.flying {
		at = earlier(at, m.sendAt)
		if i := slices.IndexFunc(m.requests, func(a *request) bool { return !a.ended }); i >= 0 {
			at = earlier(at, m.requests[i].begun.real.Add(l.client.cfg.GiveUp))
		}
	}
	if a := l.waiting.first; a != nil { // it may have begun before those in flight
		at = earlier(at, a.begun.real.Add(l.client.cfg.GiveUp))
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

// Moved must be called when a partition has another owner, or will have one soon. Messages without an answer are then
// sent again soon, since they may have reached a process that no longer listens.
func (c *Client) Moved(at int) {
	c.lanes[at].moved()
	c.reads.moved(at)
}

func (l *lane) moved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, m := range l.flying {
		if m.quiet.Pause > 0 && m.wanted > 0 { // otherwise the message will be sent again soon, or never
			m.doubt = true
			l.delay(m, now, errSilent)
		}
	}
	l.aim()
}

// tick sends copies of the messages without an answer, and gives up the calls that have waited too long.
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
	for a := l.waiting.first; a != nil && now.Sub(a.begun.real) >= l.client.cfg.GiveUp; a = l.waiting.first {
		l.waiting.remove(a)
		a.end(unavailable(why))
	}
}

// answered is called with an answer to a copy of a message, or with nil if nobody received the copy.
func (l *lane) answered(serial uint64, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, retry, err := readAnswer(data)
	if err == nil && serial >= l.loose {
		l.loose = 0
	}
	i := slices.IndexFunc(l.flying, func(m *message) bool { return m.serial == serial })
	if i < 0 { // another copy was answered, or nobody waits any more
		return
	}
	m := l.flying[i]
	if err == nil {
		l.known = readClocks(l.client.cfg.Clock)
	}
	if retry && m.wanted > 0 {
		l.retry(m, err)
		return
	}
	l.flying = slices.Delete(l.flying, i, i+1)
	l.decided(m, body, err)
	l.send()
}

// retry sends a message again after an answer that has decided nothing. A process that does not own the partition answers for
// itself alone: the same copy may be on its way to the owner.
func (l *lane) retry(m *message, err error) {
	switch {
	case errors.Is(err, errNotMine):
		m.passing = true
	case !errors.Is(err, errNobody):
		m.doubt = true
	}
	if m.quiet.Pause > 0 { // otherwise the message will be sent again soon
		l.delay(m, time.Now(), err)
		l.aim()
	}
}

// decided ends the calls of a message with its answer, or sends them in other messages.
func (l *lane) decided(m *message, body []byte, err error) {
	if l.recount(m, err) {
		return
	}
	unsure := m.unsure()
	if err != nil && unsure && !errors.Is(err, partition.ErrUnavailable) { // another copy may be committed
		err = unavailable(err)
	}
	switch {
	case err == nil:
		l.take(m, body)
	case errors.Is(err, core.ErrTooLarge) && len(m.requests) > 1 && !unsure:
		l.again(m, true)
	default:
		if errors.Is(err, partition.ErrUnavailable) {
			l.loosen(m)
		}
		for _, a := range m.requests {
			a.end(err)
		}
	}
}

// take gives each call of a message its answer.
func (l *lane) take(m *message, body []byte) {
	in := newCutter(body)
	from := in.origin()
	body = in.B
	var err error
	for _, a := range m.requests {
		if a.ended { // the caller may have reused the memory of the call
			answer := frame.Answer{Took: make([]bool, a.ops)}
			body, _ = answer.Cut(body)
			from.First.Number += core.Committed(answer.Took)
			continue
		}
		body, err = a.call.TakeAnswer(body, from)
		from.First.Number += core.Committed(a.call.Took)
		if errors.Is(err, core.ErrLater) {
			a.message = nil
			l.waiting.putBack(a)
			continue
		}
		if errors.Is(err, core.ErrArgument) {
			err = unavailable(err)
		}
		a.end(err)
	}
	in = newCutter(body)
	if at := in.moment(); in.end() == nil {
		l.offset.learn(at, m.clocks, readClocks(l.client.cfg.Clock))
	}
}

// again sends the calls of a message that was not committed in other messages. If alone is true, each call is sent in a
// message of its own.
func (l *lane) again(m *message, alone bool) {
	for _, a := range slices.Backward(m.requests) {
		if !a.ended {
			a.message, a.alone = nil, a.alone || alone
			l.waiting.putBack(a)
		}
	}
}
