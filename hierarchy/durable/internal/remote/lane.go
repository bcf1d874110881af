package remote

import (
	"errors"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// lane holds the calls of a process to one partition.
type lane struct {
	client  *Client
	at      int
	subject string

	mu      sync.Mutex
	waiting queue
	flying  []*message // Invariant: sorted by serial
	serial  uint64     // the serial number of the last message
	loose   uint64     // the last message of which a call was given up; 0 once it or a later one is answered
	known   reading    // when the owner last knew this process: a message was answered, or serial counted from a time of the log
	offset  offset     // the difference between the owner's clock and the clock of this process
	timer   *time.Timer
	aimed   time.Time // when timer fires, or zero
	closed  bool
}

// put sends a call, or queues it until earlier messages are answered.
func (l *lane) put(a *request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.client.ending.Load() { // Finish would not wait for this call
		return core.ErrClosed
	}
	l.waiting.push(a)
	l.send()
	return nil
}

// giveUp ends a call whose caller no longer waits. It reports false if the call had ended before.
func (l *lane) giveUp(a *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.ended {
		return false
	}
	a.ended = true
	m := a.message
	if m == nil {
		l.waiting.remove(a)
		return true
	}
	l.loosen(m)
	if m.wanted--; m.wanted == 0 { // it counts as in flight for a while, as the owner may be processing it
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

// send sends the queued calls, up to the limit of messages in flight.
func (l *lane) send() {
	for len(l.flying) < maxFlying && l.waiting.first != nil && !l.closed {
		m := l.gather()
		l.flying = append(l.flying, m)
		l.publish(m, time.Now())
	}
	l.aim()
}

// gather makes a message of the calls that have waited longest.
func (l *lane) gather() *message {
	l.serial++
	m := &message{serial: l.serial, made: l.client.cfg.Clock.Elapsed(), pause: newBackoff(), quiet: l.client.newQuiet()}
	ops, size := 0, headers
	for a := l.waiting.first; a != nil; a = l.waiting.first {
		if len(m.requests) > 0 && (ops+a.ops > maxOps || size+a.size > min(maxBytes, l.client.most())) {
			break
		}
		l.waiting.remove(a)
		a.message = m
		m.requests = append(m.requests, a)
		ops, size = ops+a.ops, size+a.size
		if a.alone {
			break
		}
	}
	m.wanted = len(m.requests)
	id := core.RequestID{Caller: l.client.caller, Serial: m.serial, Floor: l.floor(m.serial)}
	m.data = startOps(make([]byte, 0, size), id, len(m.requests))
	for _, a := range m.requests {
		m.data = appendPart(m.data, a.call.Ops, m.made-a.begun.elapsed)
	}
	return m
}

// floor returns the lowest serial number of a message that still needs an answer, or next if there is no such message.
func (l *lane) floor(next uint64) uint64 {
	if len(l.flying) > 0 {
		return l.flying[0].serial
	}
	return next
}

// publish sends a copy of a message.
func (l *lane) publish(m *message, now time.Time) {
	b := l.client.cfg.Bus
	if err := b.Offline(); err != nil { // the bus would send the message later, with outdated durations
		l.delay(m, now, err)
		return
	}
	clocks := readClocks(l.client.cfg.Clock)
	if m.sent.IsZero() {
		m.clocks = clocks
	}
	var at partition.Moment
	if l.offset.holds(clocks) {
		at = l.offset.moment(m.made)
	}
	setAge(m.data, clocks.elapsed-m.made, at)
	if err := b.Publish(l.subject, l.client.replyTo(l.at, m.serial), m.data); err != nil {
		l.delay(m, now, err)
		return
	}
	m.sent, m.sendAt = now, now.Add(m.quiet.Next())
}

// delay schedules the next copy of a message soon.
func (l *lane) delay(m *message, now time.Time, why error) {
	m.why = why
	m.quiet.Reset()
	m.sendAt = now.Add(m.pause.Next())
}

// close ends all calls of the lane.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.endAll(core.ErrClosed)
}

// endAll ends all calls that have not ended yet. Calls that were sent may have been committed.
func (l *lane) endAll(err error) {
	for _, m := range l.flying {
		why := err
		if errors.Is(err, core.ErrClosed) && !m.sent.IsZero() {
			why = unavailable(errClosing)
		}
		l.loosen(m)
		for _, a := range m.requests {
			a.end(why)
		}
	}
	l.flying = nil
	for a := l.waiting.first; a != nil; a = l.waiting.first {
		l.waiting.remove(a)
		a.end(err)
	}
}
