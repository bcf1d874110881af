package remote

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

const (
	// young is the time for which an offset is used after it was learnt.
	young = 10 * time.Second
	// driftShare is the inverse of the greatest difference between the rates of two computers' clocks: each clock may
	// be adjusted by up to 500 parts in a million, and may be wrong by up to 500 more.
	driftShare = 500
	// stoodStill limits by how much more the wall clock may have advanced than the clock of the timers. If the
	// difference is larger, the clock of the timers has stood still for a while, as when a computer sleeps.
	stoodStill = 10 * time.Millisecond
)

// reading has the times that the clocks of this process showed at one moment.
type reading struct {
	elapsed time.Duration // by the clock of the timers
	wall    time.Time
}

func readClocks(c clock.Clock) reading { return reading{c.Elapsed(), c.Now().Round(0)} }

// offset is an upper bound for how far an owner's time is ahead of the clock of this process. It is derived from an
// answer: the owner read its clock after the request was sent. So a duration that is converted to the owner's clock is
// never too short. It is too long by at most the time that the answer took.
type offset struct {
	epoch uint64 // the epoch of the owner, or 0
	most  time.Duration
	sent  reading // when the request was sent to the owner
}

// learn derives the offset from an owner's time in an answer.
func (o *offset) learn(at partition.Moment, sent, now reading) {
	if at.Epoch < o.epoch { // a late answer of an earlier owner
		return
	}
	next := offset{at.Epoch, time.Duration(at.Time) - sent.elapsed, sent}
	if at.Epoch > o.epoch || !o.holds(now) || next.most <= o.at(sent.elapsed) {
		*o = next
	}
}

// holds reports whether the offset is known, and recent enough to use.
func (o *offset) holds(now reading) bool {
	since := now.elapsed - o.sent.elapsed
	return o.epoch != 0 && since <= young && (now.wall.Sub(o.sent.wall)-since).Abs() <= stoodStill
}

// at returns the upper bound at another time: the offset plus the greatest possible drift of the clocks in between.
func (o *offset) at(elapsed time.Duration) time.Duration {
	return o.most + (elapsed-o.sent.elapsed).Abs()/driftShare
}

// moment converts a time of this process to the owner's clock. The result may be a little too late.
func (o *offset) moment(elapsed time.Duration) partition.Moment {
	return partition.Moment{Epoch: o.epoch, Time: int64(elapsed + o.at(elapsed))}
}

// The durations in a message with operations count from one moment. The message has the age of that moment when the
// message was sent and the moment by the owner's clock, whose epoch is 0 if that clock is not known. The age does not
// include the time that the message is on the network.

// momentSize is the number of bytes of a moment in a message.
const momentSize = 16

// appendMoment appends a moment.
func appendMoment(b []byte, m partition.Moment) []byte {
	b = binary.LittleEndian.AppendUint64(b, m.Epoch)
	return binary.LittleEndian.AppendUint64(b, uint64(m.Time))
}

func (c *cutter) moment() partition.Moment {
	return partition.Moment{Epoch: c.Fixed(), Time: int64(c.Fixed())}
}

// readKind reads the beginning of a message.
func readKind(b []byte) (k kind, rest []byte, err error) {
	if len(b) < 2 {
		return 0, nil, errMessage
	}
	if b[0] != Version {
		return 0, nil, fmt.Errorf("%w: the message has %d instead of %d", errVersion, b[0], Version)
	}
	return kind(b[1]), b[2:], nil
}
