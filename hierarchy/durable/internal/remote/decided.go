package remote

// What a lane does with answers.

import (
	"errors"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

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
