package compat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
)

// newCache makes a cache on a mock.
func newCache(t testing.TB, expire time.Duration, opts ...compat.CacheOption) (*compat.Cache, *clock.Mock) {
	t.Helper()
	m := clock.NewMock()
	c, err := compat.NewCache(expire, append(opts, compat.WithClock(m))...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, m
}

// requireValue checks the value of key, where nil means that there is none.
func requireValue(t testing.TB, c *compat.Cache, key string, want any) {
	t.Helper()
	got, ok := c.Get(key)
	require.Equal(t, want, got)
	require.Equal(t, want != nil, ok)
}

func TestCache(t *testing.T) {
	c, _ := newCache(t, time.Minute)
	requireValue(t, c, "a", nil)
	c.Set("a", 1)
	c.Set("b", "two")
	c.Set("", 3)
	requireValue(t, c, "a", 1)
	requireValue(t, c, "b", "two")
	requireValue(t, c, "", 3)
	c.Set("a", 4)
	requireValue(t, c, "a", 4)
	require.Equal(t, 3, c.Len())
	c.Del("a")
	c.Del("a")
	c.Del("none")
	requireValue(t, c, "a", nil)
	require.Equal(t, 2, c.Len())

	c.Set("nil", nil)
	value, ok := c.Get("nil")
	require.Nil(t, value)
	require.True(t, ok, "nil is a value")
	require.Equal(t, compat.CacheStats{Hits: 5, Misses: 2, Elements: 3}, c.Stats())
}

// Values expire up to 5 % before or after their time, so that values set together do not
// expire together.
func TestExpiry(t *testing.T) {
	const n = 1000
	c, m := newCache(t, time.Hour)
	for i := range n {
		c.Set(fmt.Sprint("own", i), i)
		c.SetWithExpire(fmt.Sprint("given", i), i, time.Minute)
	}
	for i, expire := range []time.Duration{time.Minute, time.Hour} {
		before := (2 - i) * n
		m.Add(expire*95/100 - m.Elapsed() - 1)
		require.Equal(t, before, c.Len(), "too early")
		m.Add(expire/1000 + 1)
		require.Less(t, c.Len(), before, "none of a thousand in the first fiftieth")
		m.Add(expire*1049/1000 - m.Elapsed())
		require.Greater(t, c.Len(), before-n, "none of a thousand in the last fiftieth")
		m.Add(expire / 1000)
		require.Equal(t, before-n, c.Len(), "too late")
	}
	requireValue(t, c, "own1", nil)
}

func TestExpiryIsThatOfTheLastSet(t *testing.T) {
	c, m := newCache(t, time.Minute)
	c.Set("a", 1)
	c.SetWithExpire("a", 2, time.Hour)
	c.SetWithExpire("b", 1, time.Hour)
	c.Set("b", 2)
	m.Add(2 * time.Minute)
	requireValue(t, c, "a", 2)
	requireValue(t, c, "b", nil)
	requireValue(t, c, "a", 2) // Get does not extend the time to expiry
	m.Add(63*time.Minute - m.Elapsed())
	requireValue(t, c, "a", nil)
}

func TestNoExpiry(t *testing.T) {
	for _, expire := range []time.Duration{0, -1, math.MinInt64, math.MaxInt64} {
		c, m := newCache(t, expire)
		c.Set("a", 1)
		c.SetWithExpire("soon", 1, 1)
		c.SetWithExpire("later", 1, time.Hour)
		requireValue(t, c, "soon", 1)
		m.Add(2)
		requireValue(t, c, "soon", nil)
		m.Add(2 * time.Hour)
		require.Equal(t, 1, c.Len())
		m.Add(200 * 365 * 24 * time.Hour)
		requireValue(t, c, "a", 1)
	}
}

// Without WithClock, a cache runs in real time.
func TestCacheInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := compat.NewCache(time.Minute)
		require.NoError(t, err)
		defer c.Close()
		c.Set("a", 1)
		time.Sleep(57*time.Second - 1) // in the bubble's time
		requireValue(t, c, "a", 1)
		time.Sleep(6*time.Second + 1)
		requireValue(t, c, "a", nil)
	})
	c, err := compat.NewCache(time.Hour)
	require.NoError(t, err)
	c.Set("a", 1)
	requireValue(t, c, "a", 1)
	c.Close()
}

func TestLimit(t *testing.T) {
	c, m := newCache(t, time.Minute, compat.WithLimit(3))
	for i, key := range []string{"a", "b", "c"} {
		c.Set(key, i)
	}
	requireValue(t, c, "a", 0) // now b is the least recently used
	c.Set("d", 3)
	requireValue(t, c, "b", nil)
	c.Set("c", 4) // now a is the least recently used
	_, err := c.Take("e", func() (any, error) { return 5, nil })
	require.NoError(t, err)
	requireValue(t, c, "a", nil)
	require.Equal(t, 3, c.Len())

	c.Del("c") // which makes room
	c.Set("f", 6)
	requireValue(t, c, "d", 3)
	requireValue(t, c, "e", 5)
	c.SetWithExpire("f", 6, time.Hour)
	m.Add(2 * time.Minute) // expiry makes room, too
	require.Equal(t, 1, c.Len())
	c.Set("g", 7)
	c.Set("h", 8)
	requireValue(t, c, "f", 6)
}

// A failed Take and a miss do not count as uses.
func TestLimitAndMisses(t *testing.T) {
	c, _ := newCache(t, time.Minute, compat.WithLimit(2))
	c.Set("a", 1)
	c.Set("b", 2)
	requireValue(t, c, "none", nil)
	_, err := c.Take("none", func() (any, error) { return nil, errors.New("down") })
	require.Error(t, err)
	require.Equal(t, 2, c.Len())
	value, err := c.Take("a", func() (any, error) { panic("fetched a cached value") })
	require.NoError(t, err)
	require.Equal(t, 1, value)
	c.Set("c", 3)
	requireValue(t, c, "a", 1)
	requireValue(t, c, "b", nil)
}

func TestNoLimit(t *testing.T) {
	for _, limit := range []int{0, -1, math.MinInt} {
		c, _ := newCache(t, time.Minute, compat.WithLimit(limit))
		for i := range 1000 {
			c.Set(fmt.Sprint(i), i)
		}
		require.Equal(t, 1000, c.Len())
	}
}

// referenceCache is the simplest correct cache: its values, the most recently used last.
type referenceCache struct {
	now, limit int
	values     []cachedValue
}

type cachedValue struct {
	key    string
	value  any
	expiry int // in units, or never
}

const never = math.MaxInt

// unit is the step of the reference's time. Delays are odd multiples of half a unit, and so
// short that 5 % of a delay is less than half a unit: whatever its jitter, a value expires
// between the same two units.
const (
	unit     = 100 * time.Second
	maxUnits = 10
)

func delayOf(units int) time.Duration { return time.Duration(units)*unit - unit/2 }

func (s *referenceCache) find(key string) int {
	return slices.IndexFunc(s.values, func(k cachedValue) bool { return k.key == key })
}

func (s *referenceCache) get(key string) (any, bool) {
	i := s.find(key)
	if i < 0 {
		return nil, false
	}
	k := s.values[i]
	s.values = append(slices.Delete(s.values, i, i+1), k)
	return k.value, true
}

func (s *referenceCache) del(key string) {
	s.values = slices.DeleteFunc(s.values, func(k cachedValue) bool { return k.key == key })
}

func (s *referenceCache) set(key string, value any, units int) {
	s.del(key)
	k := cachedValue{key, value, never}
	if units > 0 {
		k.expiry = s.now + units
	}
	s.values = append(s.values, k)
	if s.limit > 0 && len(s.values) > s.limit {
		s.values = s.values[1:]
	}
}

func (s *referenceCache) add(units int) {
	s.now += units
	s.values = slices.DeleteFunc(s.values, func(k cachedValue) bool { return k.expiry <= s.now })
}

func TestCacheAgainstReference(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		ref := &referenceCache{limit: r.IntN(12)}
		if r.IntN(4) == 0 {
			ref.limit = 0 // no limit, more often than by chance
		}
		units := r.IntN(maxUnits)
		expire := time.Duration(0)
		if units > 0 {
			expire = delayOf(units)
		}
		c, m := newCache(t, expire, compat.WithLimit(ref.limit))
		var hits, misses uint64
		count := func(ok bool) {
			if ok {
				hits++
			} else {
				misses++
			}
		}
		for n := range 400 {
			key := string(rune('a' + r.IntN(20)))
			switch op := r.IntN(20); {
			case op < 6:
				want, ok := ref.get(key)
				got, found := c.Get(key)
				require.Equal(t, ok, found, "seed %d, step %d", seed, n)
				require.Equal(t, want, got)
				count(ok)
			case op < 10:
				ref.set(key, n, units)
				c.Set(key, n)
			case op < 13:
				k := 1 + r.IntN(maxUnits)
				ref.set(key, n, k)
				c.SetWithExpire(key, n, delayOf(k))
			case op < 15:
				want, ok := ref.get(key)
				if !ok {
					want = n
					ref.set(key, n, units)
				}
				got, err := c.Take(key, func() (any, error) { return n, nil })
				require.NoError(t, err)
				require.Equal(t, want, got, "seed %d, step %d", seed, n)
				count(ok)
			case op < 18:
				ref.del(key)
				c.Del(key)
			default:
				k := 1 + r.IntN(3)
				ref.add(k)
				m.Add(time.Duration(k) * unit)
			}
			require.Equal(t, compat.CacheStats{Hits: hits, Misses: misses, Elements: len(ref.values)}, c.Stats(),
				"seed %d, step %d", seed, n)
		}
	}
}

// Concurrent calls never exceed the limit, and all values in the cache at the end can be
// found and deleted. The test runs in real time, so that values expire meanwhile.
func TestCacheConcurrently(t *testing.T) {
	for _, limit := range []int{0, 10} {
		c, err := compat.NewCache(time.Millisecond, compat.WithLimit(limit))
		require.NoError(t, err)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 0))
				for n := range 5000 {
					key := string(rune('a' + r.IntN(26)))
					switch r.IntN(6) {
					case 0:
						c.Set(key, n)
					case 1:
						c.SetWithExpire(key, n, time.Hour)
					case 2:
						c.SetWithExpire(key, n, time.Duration(1+r.IntN(100_000)))
					case 3:
						c.Del(key)
					case 4:
						c.Get(key)
					case 5:
						if value, err := c.Take(key, func() (any, error) { return n, nil }); err != nil || value == nil {
							t.Error(value, err)
						}
					}
					if n := c.Len(); limit > 0 && n > limit {
						t.Errorf("%d values", n)
					}
				}
			})
		}
		wg.Wait()
		for key := 'a'; key <= 'z'; key++ {
			c.SetWithExpire(string(key), key, time.Hour)
			requireValue(t, c, string(key), key)
		}
		want := 26
		if limit > 0 {
			want = limit
		}
		require.Equal(t, want, c.Len())
		for key := 'a'; key <= 'z'; key++ {
			c.Del(string(key))
		}
		require.Zero(t, c.Len())
		c.Close()
	}
}

func TestClose(t *testing.T) {
	for _, opt := range []compat.CacheOption{compat.WithLimit(0), compat.WithLimit(5), compat.WithLog(slog.Default())} {
		c, m := newCache(t, time.Minute, opt)
		c.Set("a", 1)
		for range 3 {
			c.Close()
			require.Zero(t, c.Len())
			requireValue(t, c, "a", nil)
			c.Set("a", 1)
			c.Del("b")
			requireValue(t, c, "a", nil)
			value, err := c.Take("a", func() (any, error) { return 2, nil })
			require.NoError(t, err)
			require.Equal(t, 2, value)
			require.Zero(t, c.Len())
		}
		_, pending := m.Next()
		require.False(t, pending)
	}
}

func TestLog(t *testing.T) {
	l := new(logBuffer)
	c, m := newCache(t, time.Hour, compat.WithName("users"), compat.WithLog(slog.New(slog.NewJSONHandler(l, nil))))
	m.Add(10 * time.Minute)
	require.Empty(t, l.take(t), "there were no hits or misses")

	c.Set("a", 1)
	for range 3 {
		c.Get("a")
	}
	c.Get("b")
	m.Add(time.Minute - 1)
	require.Empty(t, l.take(t))
	m.Add(1)
	require.Equal(t, []map[string]any{{
		"level": "INFO", "msg": "cache", "name": "users",
		"requests": 4.0, "hit_ratio": 0.75, "elements": 1.0, "hits": 3.0, "misses": 1.0,
	}}, l.take(t))
	m.Add(time.Minute)
	require.Empty(t, l.take(t), "each line counts its own minute")

	c.Get("b")
	m.Add(time.Minute)
	lines := l.take(t)
	require.Len(t, lines, 1)
	require.Zero(t, lines[0]["hit_ratio"])
	require.EqualValues(t, 1, lines[0]["misses"])
	c.Get("b")
	c.Close()
	m.Add(time.Hour)
	require.Empty(t, l.take(t))
}

func TestNames(t *testing.T) {
	for name, opts := range map[string][]compat.CacheOption{
		"proc": nil, "users": {compat.WithName("users")}, "b": {compat.WithName("a"), compat.WithName("b")},
	} {
		requireName(t, name, opts...)
	}
	requireName(t, "proc", compat.WithName(""))
}

func requireName(t *testing.T, name string, opts ...compat.CacheOption) {
	t.Helper()
	l := new(logBuffer)
	c, m := newCache(t, 0, append(opts, compat.WithLog(slog.New(slog.NewJSONHandler(l, nil))))...)
	c.Get("a")
	m.Add(time.Minute)
	lines := l.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, name, lines[0]["name"])
}

func TestNoLog(t *testing.T) {
	l := captureLogs(t)
	c, m := newCache(t, time.Minute, compat.WithLog(nil))
	c.Get("a")
	m.Add(time.Hour)
	require.Empty(t, l.take(t))
}

// handler calls before for each record, and then its Handler.
type handler struct {
	slog.Handler
	before func()
}

func (h handler) Enabled(context.Context, slog.Level) bool { return true }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	h.before()
	return h.Handler.Handle(ctx, r)
}

// The handler is called in a goroutine of the cache, where the user can't recover a panic.
// The process and the reports go on.
func TestLogThatPanics(t *testing.T) {
	l := captureLogs(t)
	synctest.Test(t, func(t *testing.T) {
		records := 0
		log := slog.New(handler{slog.DiscardHandler, func() { records++; panic("boom") }})
		c, err := compat.NewCache(time.Hour, compat.WithName("users"), compat.WithLog(log))
		require.NoError(t, err)
		defer c.Close()
		for n := 1; n <= 3; n++ {
			c.Get("a")
			time.Sleep(time.Minute)
			settle()
			require.Equal(t, n, records)
			lines := l.take(t)
			require.Len(t, lines, 1)
			require.Equal(t, "cache: its log panicked", lines[0]["msg"])
			require.Equal(t, "users", lines[0]["name"])
			require.Equal(t, "boom", lines[0]["panic"])
			require.Contains(t, lines[0]["stack"], "TestLogThatPanics")
		}
	})
}

// Each report counts its own minute, also after a report that was not finished.
func TestLogThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(logBuffer)
		exits := true
		log := slog.New(handler{slog.NewJSONHandler(l, nil), func() {
			if exits {
				runtime.Goexit()
			}
		}})
		c, err := compat.NewCache(time.Hour, compat.WithLog(log))
		require.NoError(t, err)
		defer c.Close()
		for range 3 {
			c.Get("a")
			time.Sleep(time.Minute)
			settle()
			exits = false
		}
		lines := l.take(t)
		require.Len(t, lines, 2)
		require.EqualValues(t, 1, lines[0]["misses"])
		require.EqualValues(t, 1, lines[1]["misses"])
	})
}
