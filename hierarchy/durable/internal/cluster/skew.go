package cluster

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A process takes no partition over by a clock that is off: what is due would fire early, or be late, by as much,
// and so it would go on with each owner after it.

// skewTold is how often it is told that the clock is off.
const skewTold = time.Minute

// watched is what is known of this process's wall clock.
type watched struct {
	mu   sync.Mutex
	off  bool
	told time.Time // when that it is off was told last
}

// errSkew is for a takeover that waits for a right clock.
var errSkew = errors.New("the wall clock is off by more than MaxSkew")

var errLeaving = errors.New("this process is leaving")

// lookAtClock compares the wall clock with the servers', and has the others know whether it is right. It
// returns errSkew if it may be off by more than Config.MaxSkew.
func (s *session) lookAtClock() error {
	max := s.c.cfg.MaxSkew
	if max == 0 {
		return nil
	}
	w := &s.c.clock
	w.mu.Lock()
	defer w.mu.Unlock()
	least, most := s.member.Skew(s.c.cfg.Common.Clock.Now)
	off := least < -max || most > max
	s.member.SetOff(off)
	switch {
	case !off && w.off:
		s.c.cfg.Logger.Info("durable: the wall clock is right again", "ahead", least+(most-least)/2)
		w.told = time.Time{}
	case off && time.Since(w.told) >= skewTold:
		s.c.cfg.Logger.Warn("durable: the wall clock is off, and no partition is taken over", "ahead", least+(most-least)/2, "MaxSkew", max)
		w.told = time.Now()
	}
	if w.off = off; off {
		return errSkew
	}
	return nil
}

// fitsClock is lookAtClock before a takeover. It waits until the servers' time is known, if need be.
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

// Skew is by how much the wall clock is ahead of the servers', or 0 if that is not known.
func (c *Cluster) Skew() time.Duration {
	if c.cfg.MaxSkew == 0 {
		return 0
	}
	least, most := c.latest().member.Skew(c.cfg.Common.Clock.Now)
	return least + (most-least)/2
}
