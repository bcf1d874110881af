package remote

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// lane is the calls of a process to one partition.
type lane struct {
	client  *Client
	at      int
	subject string

	mu      sync.Mutex
	waiting [classes]queue
	flying  []*message // Invariant: sorted by serial
	serial  uint64     // of the last message
	loose   uint64     // the last message of which a call was given up, until it or a later one is answered; or 0
	greeted bool       // serial was counted from a time of the log
	offset  offset     // of the owner
	timer   *time.Timer
	aimed   time.Time // when timer fires, or zero
	closed  bool
}

// put sends a call, now or when messages before it are answered.
func (l *lane) put(a *request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.client.ending.Load() { // Finish does not wait for what comes now
		return partition.ErrClosed
	}
	l.waiting[a.class].push(a)
	l.send()
	return nil
}

// giveUp ends a call for which nobody waits any more. It is false if it has ended before.
func (l *lane) giveUp(a *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.ended {
		return false
	}
	a.ended = true
	m := a.message
	if m == nil {
		l.waiting[a.class].remove(a)
		return true
	}
	l.loosen(m)
	if m.wanted--; m.wanted == 0 { // it keeps its place for a while, as the owner may be at it
		m.sendAt = earlier(m.sendAt, m.sent.Add(l.client.quiet))
		l.aim()
	}
	return true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// send sends what waits, as far as messages may be on their way.
func (l *lane) send() {
	for c := range classes {
		for l.flyingOf(c) < maxFlying && l.waiting[c].first != nil && !l.closed {
			m := l.gather(c)
			l.flying = append(l.flying, m)
			l.publish(m, time.Now())
		}
	}
	l.aim()
}

// flyingOf returns how many messages of a class are on their way.
func (l *lane) flyingOf(c class) (n int) {
	for _, m := range l.flying {
		if m.class == c {
			n++
		}
	}
	return n
}

// gather makes a message of the calls of a class that have waited longest.
func (l *lane) gather(c class) *message {
	l.serial++
	m := &message{serial: l.serial, class: c, made: l.client.cfg.Clock.Elapsed(), pause: newBackoff(), quiet: l.client.newQuiet()}
	ops, size := 0, headers
	waiting := &l.waiting[c]
	for a := waiting.first; a != nil; a = waiting.first {
		if len(m.requests) > 0 && (ops+a.ops > maxOps || size+a.size > min(maxBytes, l.client.most())) {
			break
		}
		waiting.remove(a)
		a.message = m
		m.requests = append(m.requests, a)
		ops, size = ops+a.ops, size+a.size
		if a.alone {
			break
		}
	}
	m.wanted = len(m.requests)
	id := partition.RequestID{Caller: l.client.caller, Serial: m.serial, Floor: l.floor(m.serial)}
	m.data = startOps(make([]byte, momentSize, size), id, len(m.requests))
	for _, a := range m.requests {
		m.data = appendPart(m.data, a.call.Ops, m.made-a.begun.elapsed)
	}
	return m
}

// floor returns the lowest serial to which an answer is waited for.
func (l *lane) floor(next uint64) uint64 {
	if len(l.flying) > 0 {
		return l.flying[0].serial
	}
	return next
}

// publish sends a copy of a message.
func (l *lane) publish(m *message, now time.Time) {
	b := l.client.cfg.Bus
	if err := b.Offline(); err != nil { // it would be kept, and sent when its durations are not true any more
		l.delay(m, now, err)
		return
	}
	clocks := readClocks(l.client.cfg.Clock)
	if m.sent.IsZero() {
		m.clocks = clocks
	}
	setAge(m.data[momentSize:], clocks.elapsed-m.made)
	data := head(m.data, m.class.version(), l.offset.moment(m.made), l.offset.holds(clocks))
	if err := b.Publish(l.subject, l.client.replyTo(l.at, m.serial), data); err != nil {
		l.delay(m, now, err)
		return
	}
	m.sent, m.sendAt = now, now.Add(m.quiet.Next())
}

// delay has a message be sent again soon.
func (l *lane) delay(m *message, now time.Time, why error) {
	m.why = why
	m.quiet.Reset()
	m.sendAt = now.Add(m.pause.Next())
}

// answered is called with an answer to a copy of a message, or nil if nobody has got the copy.
func (l *lane) answered(serial uint64, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, retry, err := read(data)
	if err == nil && serial >= l.loose {
		l.loose = 0
	}
	i := slices.IndexFunc(l.flying, func(m *message) bool { return m.serial == serial })
	if i < 0 { // another copy was answered, or nobody waits
		return
	}
	m := l.flying[i]
	if retry && m.wanted > 0 {
		l.retry(m, err)
		return
	}
	l.flying = slices.Delete(l.flying, i, i+1)
	l.decided(m, body, err)
	l.send()
}

// retry has a message sent again whose answer was no decision.
func (l *lane) retry(m *message, err error) {
	if !errors.Is(err, errNotMine) && !errors.Is(err, errNobody) {
		m.doubt = true
		l.offset = offset{} // an owner of an earlier version reads no message that is dated
	}
	if m.quiet.Pause > 0 { // else it will be sent again soon
		l.delay(m, time.Now(), err)
		l.aim()
	}
}

// decided ends the calls of a message, or has them sent in others.
func (l *lane) decided(m *message, body []byte, err error) {
	if anew := (*recount)(nil); errors.As(err, &anew) && l.recount(m, anew) {
		return
	}
	if err != nil && m.doubt && !errors.Is(err, partition.ErrUnavailable) { // another copy may have been committed
		err = unavailable(err)
	}
	switch {
	case err == nil:
		l.take(m, body)
	case errors.Is(err, partition.ErrTooLarge) && len(m.requests) > 1 && !m.doubt:
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
	var err error
	for _, a := range m.requests {
		if a.ended { // its caller may use the memory of the call
			var ok bool
			if _, _, body, ok = frame.CutAnswer(body, make([]bool, a.ops)); !ok {
				body = nil
			}
			continue
		}
		body, err = a.call.TakeAnswer(body)
		if errors.Is(err, partition.ErrLater) {
			a.message = nil
			l.waiting[a.class].pushFirst(a)
			continue
		}
		if errors.Is(err, partition.ErrArgument) {
			err = unavailable(err)
		}
		a.end(err)
	}
	if at := newCutter(body); len(body) == momentSize { // else the owner is of an earlier version
		l.offset.learn(at.moment(), m.clocks, readClocks(l.client.cfg.Clock))
	}
}

// again sends the calls of a message that was not committed in other messages, or each alone.
func (l *lane) again(m *message, alone bool) {
	for _, a := range slices.Backward(m.requests) {
		if !a.ended {
			a.message, a.alone = nil, a.alone || alone
			l.waiting[a.class].pushFirst(a)
		}
	}
}

// close ends all calls.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.endAll(partition.ErrClosed)
}

// endAll ends all calls that have not ended yet. What was sent may have been committed.
func (l *lane) endAll(err error) {
	for _, m := range l.flying {
		why := err
		if errors.Is(err, partition.ErrClosed) && !m.sent.IsZero() {
			why = unavailable(errClosing)
		}
		l.loosen(m)
		for _, a := range m.requests {
			a.end(why)
		}
	}
	l.flying = nil
	for c := range l.waiting {
		for a := l.waiting[c].first; a != nil; a = l.waiting[c].first {
			l.waiting[c].remove(a)
			a.end(err)
		}
	}
}
