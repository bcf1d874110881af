package main

import (
	"math/rand/v2"
	"sync"
	"time"
)

// crowdOf sets many timers with random deadlines within the turn and waits for all of them. The cost of setting the
// timers counts, too.
func crowdOf(open func() (*opened, error)) func(time.Duration) (uint64, error) {
	return func(turn time.Duration) (uint64, error) {
		o, err := open()
		if err != nil {
			return 0, err
		}
		defer o.close()
		random := rand.New(rand.NewPCG(1, 2))
		var pending sync.WaitGroup
		for range int(turn.Seconds() * crowdPerSecond) {
			pending.Add(1)
			if err := o.after(time.Duration(random.Int64N(int64(turn))), pending.Done); err != nil {
				return 0, err
			}
		}
		pending.Wait()
		return o.countWakeups(), nil
	}
}

// chainOf sets one timer after another, each in the callback of the one before it.
func chainOf(open func() (*opened, error)) func(time.Duration) (uint64, error) {
	return func(turn time.Duration) (uint64, error) {
		o, err := open()
		if err != nil {
			return 0, err
		}
		defer o.close()
		done := make(chan error, 1)
		left := int(turn.Seconds() * lowPerSecond)
		var next func()
		next = func() {
			if left--; left < 0 {
				done <- nil
			} else if err := o.after(time.Second/lowPerSecond, next); err != nil {
				done <- err
			}
		}
		next()
		if err := <-done; err != nil {
			return 0, err
		}
		return o.countWakeups(), nil
	}
}

func (o *opened) countWakeups() uint64 {
	if o.wakeups == nil {
		return 0
	}
	return o.wakeups()
}
