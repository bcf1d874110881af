package remote

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Serial numbers rise with the time of the log. So an owner can distinguish a message that it has never seen from an
// old copy of a message that it has forgotten. See state.Standing.

// greet requests the owner's time. It does so before the lane's first message, since that is numbered from a time of
// the log on, before durations are sent to an owner whose clock is not known, and after a pause: the owner may have
// forgotten this process, and would call a message numbered from before the pause old, so that its calls fail if a copy of
// it had no answer. The call that waits for the time is given up at end.
func (l *lane) greet(ctx context.Context, durations bool, end time.Time) error {
	sent := readClocks(l.client.cfg.Clock)
	l.mu.Lock()
	knows := l.isKnown(sent) && (!durations || l.offset.holds(sent))
	l.mu.Unlock()
	if knows {
		return nil
	}
	at, from, err := l.client.time(ctx, l.at, end)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offset.learn(at, sent, readClocks(l.client.cfg.Clock))
	if len(l.flying) == 0 { // otherwise a message in flight may have been committed, and forgotten since: see recount
		l.known, l.serial = sent, max(l.serial, from)
	}
	return nil
}

// isKnown reports whether the owner has known this process less than a minute ago, by both clocks: that of the timers
// may have stood still. mu is held.
func (l *lane) isKnown(now reading) bool {
	most := l.client.cfg.GiveUp
	return now.elapsed-l.known.elapsed < most && now.wall.Sub(l.known.wall).Abs() < most
}

// time requests the owner's present moment, and the time of the log, until end.
func (c *Client) time(ctx context.Context, at int, end time.Time) (m partition.Moment, logged uint64, err error) {
	body, err := c.readUntil(ctx, end, at, startMessage(nil, timeKind))
	if err != nil {
		return m, 0, err
	}
	in := newCutter(body)
	m = in.moment()
	if logged, err = readTime(in.B); err != nil {
		return m, 0, unavailable(err)
	}
	return m, logged, nil
}

// Epoch returns the epoch of a partition's owner.
func (c *Client) Epoch(ctx context.Context, at int) (uint64, error) {
	m, _, err := c.time(ctx, at, time.Now().Add(c.cfg.GiveUp))
	return m.Epoch, err
}

// recount sends the calls of a message again under another serial number, without those that were given up, if the owner
// has refused only its number. It reports false otherwise, or if the message may have been committed. mu is held.
//
// An owner that forgets this process, and then commits a message of it, calls those before that passed, although it may
// have forgotten that they were committed. But it calls the first one old, as numbers go on while a message is in flight.
// So all in flight are lost then, and only then does a number rise with the time of the log.
func (l *lane) recount(m *message, err error) bool {
	if anew, ok := errors.AsType[*oldNumber](err); ok {
		for _, other := range l.flying {
			other.lost = true
		}
		m.lost, l.serial = true, max(l.serial, anew.from)
	} else if !errors.Is(err, core.ErrPassed) {
		return false
	}
	if m.lost && m.unsure() {
		return false
	}
	l.again(m, false)
	return true
}

// unsure reports whether a copy of the message may be committed although its answer says otherwise.
func (m *message) unsure() bool { return m.doubt || m.passing }

// loosen records that a call of a message was given up. mu is held.
func (l *lane) loosen(m *message) { l.loose = max(l.loose, m.serial) }

// Settled reports whether each call to a partition that was given up has been committed by now or will never be
// committed. While it reports false, even a process that has become the owner must use Do: an answer of Do settles
// these calls.
func (c *Client) Settled(at int) bool {
	l := c.lanes[at]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loose == 0
}
