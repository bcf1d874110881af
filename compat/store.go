package compat

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// store holds the values of a Cache, as the timers of a wheel: what is pending is
// cached.
type store struct {
	wheel  *hierarchy.Keyed[string, any]
	recent *recency // nil without a limit
}

// recency is the order in which the keys of a store with a limit were last used.
// Whoever changes that store holds its lock.
//
// Invariant: it has the key of each value.
type recency struct {
	mu   sync.Mutex
	keys *simplelru.LRU[string, struct{}] // guarded by mu
}

func newRecency(limit int) *recency {
	if limit <= 0 {
		return nil
	}
	keys, err := simplelru.NewLRU[string, struct{}](limit, nil)
	if err != nil {
		panic("compat: " + err.Error()) // only of a limit that is not positive
	}
	return &recency{keys: keys}
}

func (s *store) get(key string) (any, bool) {
	value, ok := s.wheel.Value(key)
	if r := s.recent; ok && r != nil {
		r.mu.Lock()
		r.keys.Get(key)
		r.mu.Unlock()
	}
	return value, ok
}

func (s *store) set(key string, value any, expire time.Duration) {
	r := s.recent
	if r == nil {
		_ = s.wheel.Set(key, value, expire) // refused once it is closed
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest, _, _ := r.keys.GetOldest()
	if r.keys.Add(key, struct{}{}) {
		s.wheel.Remove(oldest)
	}
	if s.wheel.Set(key, value, expire) != nil {
		r.keys.Remove(key)
	}
}

func (s *store) remove(key string) {
	if r := s.recent; r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.keys.Remove(key)
	}
	s.wheel.Remove(key)
}

// len is the number of values. With a limit it is never above that: while the
// wheel counts, part by part, none may come for one that was counted and goes.
func (s *store) len() int {
	if r := s.recent; r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	return s.wheel.Len()
}

// expired is called by the wheel when a value has left it. The key may have a new
// one by now.
func (s *store) expired(key string, _ any) {
	r := s.recent
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := s.wheel.Value(key); !ok {
		r.keys.Remove(key)
	}
}

// deviation is by which part the time of expiry is shifted at random, back or
// forth, so that what was set together does not expire together.
const deviation = 0.05

// around is expire, shifted; without end if it is 0 or less.
func around(expire time.Duration) time.Duration {
	if expire <= 0 {
		return math.MaxInt64
	}
	shifted := (1 + deviation*(2*rand.Float64()-1)) * float64(expire)
	if shifted >= math.MaxInt64 {
		return math.MaxInt64
	}
	return max(1, time.Duration(shifted))
}
