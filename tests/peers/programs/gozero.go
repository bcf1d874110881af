package main

import (
	"context"
	"strconv"
	"time"

	"github.com/zeromicro/go-zero/core/collection"

	"github.com/epicycle-go/epicycle/compat"
)

// gozeroProgram is the cache of go-zero, whose keys expire by its TimingWheel, and compat's with the same methods.
func gozeroProgram() program {
	return program{
		name:  "gozero",
		what:  "cache as in go-zero, %s keys with a TTL",
		unit:  "key: set twice, read four times, expired",
		each:  "key with a value of 8 bytes",
		full:  size{N: 200_000, Rounds: 4, Lifetime: 4 * time.Second},
		quick: size{N: 2000, Rounds: 4, Lifetime: 2 * time.Second},
		work:  func(s size) int { return s.N },
		ways: []way{
			{"go-zero, collection.Cache", false, runGozero(func(ttl time.Duration) (namedCache, error) {
				return collection.NewCache(ttl)
			})},
			{"compat.Cache", true, runGozero(func(ttl time.Duration) (namedCache, error) {
				return compat.NewCache(ttl)
			})},
		},
	}
}

// namedCache is what both caches have.
type namedCache interface {
	Set(key string, value any)
	Get(key string) (any, bool)
}

func runGozero(of func(time.Duration) (namedCache, error)) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		names := make([]string, size.N)
		for i := range names {
			names[i] = "key:" + strconv.Itoa(i)
		}
		before := liveBytes()
		c, err := of(size.Lifetime)
		if err != nil {
			return f, err
		}
		m := newMeter()
		if err := useNamed(c, names, size.Rounds); err != nil {
			return f, err
		}
		m.stop(&f, size.N)
		f.each(size.N, before)
		if _, ok := c.Get(names[0]); !ok {
			return f, errSlow
		}
		rest := newMeter()
		err = waitGone(ctx, c, names)
		f.CPU += cpuTime() - rest.cpu
		return f, err
	}
}

// useNamed sets all keys twice, and reads them in no order.
func useNamed(c namedCache, names []string, rounds int) error {
	for range 2 {
		if err := halves(len(names), func(i int) error {
			c.Set(names[i], i)
			return nil
		}); err != nil {
			return err
		}
	}
	return halves(rounds*len(names), func(i int) error {
		if _, ok := c.Get(names[i*7919%len(names)]); !ok {
			return errSlow
		}
		return nil
	})
}

// waitGone waits until no key is left. It looks for each only until that has gone.
func waitGone(ctx context.Context, c namedCache, names []string) error {
	for _, name := range names {
		for _, ok := c.Get(name); ok; _, ok = c.Get(name) {
			select {
			case <-ctx.Done():
				return errMissing
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return nil
}
