package cluster

import (
	"errors"
	"fmt"
	"time"
)

// A process whose clock is off takes no partition over. Otherwise the timers of the partition would fire early or late
// by the difference, under this owner and under each later one.

// logSkewEvery is the least interval between two warnings that the clock is off.
const logSkewEvery = time.Minute

// errSkew is the error of a takeover that has to wait until the clock is right.
var errSkew = errors.New("the wall clock is off by more than MaxSkew")

var errLeaving = errors.New("this process is leaving")

// lookAtClock compares the wall clock with the servers', and publishes whether it is right. It returns errSkew if the
// clock may be off by more than Config.MaxSkew.
func (s *session) lookAtClock() error {
	max := s.c.cfg.MaxSkew
	if max == 0 {
		return nil
	}
	c := s.c
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	least, most := s.member.Skew(c.cfg.Common.Clock.Now)
	ahead := least + (most-least)/2
	off := least < -max || most > max
	s.member.SetOff(off)
	if !off {
		if !c.skewLogged.IsZero() {
			c.cfg.Logger.Info("durable: the wall clock is right again", "ahead", ahead)
			c.skewLogged = time.Time{}
		}
		return nil
	}
	if time.Since(c.skewLogged) >= logSkewEvery {
		c.cfg.Logger.Warn("durable: the wall clock is off, and no partition is taken over", "ahead", ahead, "MaxSkew", max)
		c.skewLogged = time.Now()
	}
	return errSkew
}

// fitsClock calls lookAtClock before a takeover. If necessary, it first waits until the servers' time is known.
func (l *slot) fitsClock() error {
	if l.c().cfg.MaxSkew == 0 {
		return nil
	}
	ctx, cancel := l.patience()
	defer cancel()
	select {
	case <-l.s.member.Timed():
		return l.s.lookAtClock()
	case <-l.s.staying.Done():
		return errLeaving
	case <-ctx.Done():
		return fmt.Errorf("partition %d: the servers' time is not known: %w", l.at, ctx.Err())
	}
}

// Skew returns how far the wall clock is ahead of the servers', or 0 if that is not known.
func (c *Cluster) Skew() time.Duration {
	if c.cfg.MaxSkew == 0 {
		return 0
	}
	least, most := c.latest().member.Skew(c.cfg.Common.Clock.Now)
	return least + (most-least)/2
}
