package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// inline is a wheel that runs callbacks in the goroutine that wakes it.
func inline(c clock.Clock, shards int, precision time.Duration) Config {
	return Config{
		Interval: time.Second, Precision: precision, Clock: c, Shards: shards,
		Execute: func(task func()) { task() }, IsInline: true,
	}
}

// inGoroutines is a wheel that runs each callback in a goroutine.
func inGoroutines(c clock.Clock, shards int) Config {
	return Config{
		Interval: time.Second, Precision: time.Millisecond, Few: 4, Clock: c, Shards: shards,
		Execute: func(task func()) { go task() }, IsGo: true,
	}
}

// newWheel makes a wheel of functions.
func newWheel(cfg Config) *Core[func()] { return New(cfg, func(f func()) { f() }) }

// after sets a timer, d from now.
func after[T any](c *Core[T], d time.Duration, v T) Handle {
	h, err := c.Add(v, c.Now(), d, 0)
	if err != nil {
		panic(err)
	}
	return h
}
