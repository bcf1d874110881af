package keys

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Check returns the first broken invariant of the indexes, for tests.
func (t *Table[K, V]) Check() error {
	for n, s := range t.core.Shards {
		s.Mu.Lock()
		err := t.index[n].check(s.Timers)
		s.Mu.Unlock()
		if err != nil {
			return fmt.Errorf("index %d: %w", n, err)
		}
	}
	return nil
}

// check returns the first broken invariant of the index of t.
func (x *index[K, V]) check(t *timers.Timers[Entry[K, V]]) error {
	if t == nil {
		return nil
	}
	want := uint32(0)
	t.Arena().Each(func(i uint32, _ *arena.Node) {
		if e := t.Value(i); e.Key == e.Key {
			want++
		}
	})
	if want != x.keys {
		return fmt.Errorf("%d keys are pending, but the index counts %d", want, x.keys)
	}
	return x.checkChains(t)
}

// checkChains is check without the timers that are not in the index.
func (x *index[K, V]) checkChains(values *timers.Timers[Entry[K, V]]) error {
	found := uint32(0)
	for b := range x.buckets {
		for i := *x.head(b); i != 0; i = values.Value(i).next {
			found++
			e := values.Value(i)
			if x.bucketFor(e.hash) != b {
				return fmt.Errorf("key %v is in bucket %d, but belongs in %d", e.Key, b, x.bucketFor(e.hash))
			}
			if x.find(values, e.hash, e.Key) != i {
				return fmt.Errorf("key %v is not found", e.Key)
			}
		}
	}
	if found != x.keys {
		return fmt.Errorf("the chains have %d keys, but the index counts %d", found, x.keys)
	}
	return nil
}

// Empty reports whether no index takes memory for keys, for tests.
func (t *Table[K, V]) Empty() bool {
	for i := range t.index {
		if t.index[i].segments != nil {
			return false
		}
	}
	return true
}
