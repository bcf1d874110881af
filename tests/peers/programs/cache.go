package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// cacheProgram is a cache whose keys expire.
func cacheProgram() program {
	return program{
		name:  "cache",
		what:  "cache of %s keys with a TTL",
		unit:  "key: set twice, read four times, expired",
		each:  "key with a value of 8 bytes",
		late:  "how late keys are gone",
		full:  size{N: 500_000, Rounds: 4, Lifetime: 4 * time.Second},
		quick: size{N: 2000, Rounds: 4, Lifetime: 500 * time.Millisecond},
		work:  func(s size) int { return s.N },
		ways: []way{
			{"map, time.AfterFunc", false, runCache(newMapCache)},
			{"otter", false, runCache(newOtterCache)},
			{"Keyed", true, runCache(newKeyedCache)},
		},
	}
}

// cache is what the program needs of a cache. The value of a key is when the key is due, since the start of the program.
type cache interface {
	set(key int, due, lifetime time.Duration) error
	get(key int) bool
	len() int
	stop()
}

// newCache makes a cache that calls expired for each key that has expired.
type newCache func(l *lives) (cache, error)

// lives are those of the keys.
type lives struct {
	size
	start time.Time
	late  *lateness
}

// lifetime is between once and twice the least lifetime, and the same for each call.
func (l *lives) lifetime(key int) time.Duration {
	const thousandths = 1000
	return l.Lifetime + l.Lifetime*time.Duration(key*7919%thousandths)/thousandths
}

func (l *lives) expired(due time.Duration) { l.late.add(time.Since(l.start) - due) }

func runCache(of newCache) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		l := &lives{size, time.Now(), newLateness(size.N)}
		before := liveBytes()
		c, err := of(l)
		if err != nil {
			return f, err
		}
		defer c.stop()
		m := newMeter()
		if err := l.use(c); err != nil {
			return f, err
		}
		m.stop(&f, size.N)
		f.each(size.N, before)
		if c.len() < size.N {
			return f, errSlow
		}
		rest := newMeter()
		err = l.late.wait(ctx, &f)
		f.CPU += cpuTime() - rest.cpu
		return f, err
	}
}

// use sets all keys, sets them again, and reads them, in two goroutines.
func (l *lives) use(c cache) error {
	for range 2 {
		if err := halves(l.N, func(key int) error {
			lifetime := l.lifetime(key)
			return c.set(key, time.Since(l.start)+lifetime, lifetime)
		}); err != nil {
			return err
		}
	}
	return halves(l.Rounds*l.N, func(i int) error {
		if !c.get(i * 7919 % l.N) { // in no order
			return errSlow
		}
		return nil
	})
}

// halves calls f for all numbers below n, in two goroutines.
func halves(n int, f func(i int) error) error {
	var g errgroup.Group
	for part := range 2 {
		g.Go(func() error {
			for i := part; i < n; i += 2 {
				if err := f(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
