package compat

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// store has the values of a Cache. Each value is a pending timer of the wheel. The wheel removes the value when it
// expires.
type store struct {
	wheel  *hierarchy.Keyed[string, any]
	recent *recency // nil without a limit
}

// recency keeps the keys of a store with a limit in the order in which they were last
// used. Its lock is held whenever a value of that store is set or removed, except by
// expiry.
//
// Invariant: every value has its key in keys.
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
		panic("compat: " + err.Error()) // impossible: NewLRU only rejects a limit below 1
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
		_ = s.wheel.Set(key, value, expire) // fails once the cache is closed
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

// len returns the number of values, which never exceeds the limit. The wheel counts its shards one after the other.
// Without the lock, a value on one shard could be replaced by a value on another shard meanwhile, and both would be
// counted.
func (s *store) len() int {
	if r := s.recent; r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	return s.wheel.Len()
}

// expired is called by the wheel after it has removed a value that expired. The key may
// have been set again since.
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

// jitter is the largest part of the time to expiry that is added or subtracted at random,
// so that values set together do not expire together.
const jitter = 0.05

// withJitter returns expire with its jitter, or the largest time.Duration if expire is 0
// or less.
func withJitter(expire time.Duration) time.Duration {
	if expire <= 0 {
		return math.MaxInt64
	}
	shifted := (1 + jitter*(2*rand.Float64()-1)) * float64(expire)
	if shifted >= math.MaxInt64 {
		return math.MaxInt64
	}
	return max(1, time.Duration(shifted))
}
