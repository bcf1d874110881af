package compat

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// store has the values of a Cache. Each is a pending timer of the wheel, which removes
// it when it expires.
type store struct {
	wheel  *hierarchy.Keyed[string, any]
	recent *recency // nil without a limit
}

// recency is the order in which the keys of a store with a limit were last used. Its
// lock is held whenever values of that store change.
//
// Invariant: it has the key of every value.
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
		panic("compat: " + err.Error()) // it only refuses a limit that is not positive
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

// len returns the number of values. It is never above the limit: the wheel counts its
// shards one after the other, and the lock lets no value be replaced meanwhile by one
// on another shard.
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

// deviation is the largest part of the time to expiry by which it is shifted at random,
// in either direction, so that values set together do not expire together.
const deviation = 0.05

// around returns expire, shifted at random, or the longest duration there is if expire
// is 0 or less.
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
