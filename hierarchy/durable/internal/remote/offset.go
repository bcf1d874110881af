package remote

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

const (
	// young is how long an offset is used.
	young = 10 * time.Second
	// driftShare is the inverse of the most by which the rates of two computers' clocks differ: each may be set
	// right by 500 parts in a million, and be wrong by as much.
	driftShare = 500
	// stoodStill is by how much the wall clock may have gone on more than the clock of the timers. Else that has
	// stood still for a while, as when a computer sleeps.
	stoodStill = 10 * time.Millisecond
)

// reading is what the clocks of this process showed at a moment.
type reading struct {
	elapsed time.Duration // by the clock of the timers
	wall    time.Time
}

func readClocks(c clock.Clock) reading { return reading{c.Elapsed(), c.Now().Round(0)} }

// offset is by how much an owner's time is ahead of the clock of this process, at most: an answer brings a time
// of the owner that is later than when the request was sent. So a duration that counts from a moment by the owner's
// clock is never too short, and too long by no more than that answer took.
type offset struct {
	epoch uint64 // of the owner, or 0
	most  time.Duration
	sent  reading // when the owner was sent the request
}

// learn takes the time of an owner from an answer.
func (o *offset) learn(at partition.Moment, sent, now reading) {
	if at.Epoch < o.epoch { // it was on its way for long
		return
	}
	next := offset{at.Epoch, time.Duration(at.Time) - sent.elapsed, sent}
	if at.Epoch > o.epoch || !o.holds(now) || next.most <= o.at(sent.elapsed) {
		*o = next
	}
}

// holds reports whether the offset is known, and recent.
func (o *offset) holds(now reading) bool {
	since := now.elapsed - o.sent.elapsed
	return o.epoch != 0 && since <= young && (now.wall.Sub(o.sent.wall)-since).Abs() <= stoodStill
}

// at returns the offset at another time.
func (o *offset) at(elapsed time.Duration) time.Duration {
	return o.most + (elapsed-o.sent.elapsed).Abs()/driftShare
}

// moment returns a time of this process by the owner's clock, or one that is a little later.
func (o *offset) moment(elapsed time.Duration) partition.Moment {
	return partition.Moment{Epoch: o.epoch, Time: int64(elapsed + o.at(elapsed))}
}
