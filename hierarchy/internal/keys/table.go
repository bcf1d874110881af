// Package keys finds the timers of a wheel by key. It knows the shards of package engine, whose locks guard its indexes,
// and nothing of how a wheel fires.
//
//	table.go    what is done with the timer of a key, each under the lock of its shard
//	index.go    the hash table of a shard
//	cursor.go   reading all keys, some at a time
package keys

import (
	"hash/maphash"
	"reflect"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Table finds the timers of a wheel by key. New makes a Table.
type Table[K comparable, V any] struct {
	core  *engine.Core[Entry[K, V]]
	index []index[K, V] // by shard; each index is guarded by the lock of its shard
	seed  maphash.Seed
	wary  bool // whether comparing two keys can panic
}

// New makes the Table of c, which is not used yet.
func New[K comparable, V any](c *engine.Core[Entry[K, V]]) *Table[K, V] {
	t := &Table[K, V]{
		core: c, index: make([]index[K, V], len(c.Shards)), seed: maphash.MakeSeed(),
		wary: mayPanic(reflect.TypeFor[K]()),
	}
	c.OnSet, c.OnFire = t.insert, t.remove
	c.OnDetach = func(shard int) { t.index[shard] = index[K, V]{} }
	return t
}

// insert adds a timer that was set to the index. A key unequal to itself (NaN) is never found, so it is not in the index.
func (t *Table[K, V]) insert(shard int, i uint32) {
	values := t.core.Shards[shard].Timers
	if e := values.Value(i); e.Key == e.Key {
		t.index[shard].insert(values, i)
	}
}

// remove removes a timer that is about to fire from the index.
func (t *Table[K, V]) remove(shard int, i uint32) {
	values := t.core.Shards[shard].Timers
	if e := values.Value(i); e.Key == e.Key {
		t.index[shard].remove(values, i)
	}
}

// Hash returns the hash of k, which all other methods need. The error says why k can't be compared.
func (t *Table[K, V]) Hash(k K) (uint64, error) {
	if t.wary {
		return t.hashWarily(k)
	}
	return maphash.Comparable(t.seed, k), nil
}

func (t *Table[K, V]) hashWarily(k K) (h uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error) // a runtime.Error
		}
	}()
	return maphash.Comparable(t.seed, k), nil
}

// mayPanic reports whether comparing two values of type t can panic, which it can if t is or contains an interface.
func mayPanic(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return mayPanic(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if mayPanic(f.Type) {
				return true
			}
		}
	}
	return false
}

// found is the timer of a key, or no timer if i is 0, on its shard, whose lock is held.
type found[K comparable, V any] struct {
	shard *engine.Shard[Entry[K, V]]
	index *index[K, V]
	i     uint32
}

// find locks the shard of k, and finds its timer. The number of the shard is in the high bits of h, since the index uses
// the low bits.
func (t *Table[K, V]) find(h uint64, k K) found[K, V] {
	n := int(h>>32) & (len(t.index) - 1)
	f := found[K, V]{shard: t.core.Shards[n], index: &t.index[n]}
	f.shard.Mu.Lock()
	if values := f.shard.Timers; values != nil {
		f.i = f.index.find(values, uint32(h), k)
	}
	return f
}

// Condition determines when a pending timer is set again, to a deadline.
type Condition uint8

const (
	Always Condition = iota
	IfAbsent
	IfSooner
	IfLater
)

// holds reports whether a timer that is due at old is set again, to deadline.
func (c Condition) holds(old, deadline int64) bool {
	switch c {
	case Always:
		return true
	case IfSooner:
		return deadline < old
	case IfLater:
		return deadline > old
	}
	return false
}

// Result is the result of Set.
type Result uint8

const (
	NotSet   Result = iota
	SetNew          // k was not pending
	SetAgain        // k was pending
)

// Set sets a timer for k, with the value v, due d after now. If k is pending, it is set again under a condition, and Set
// returns the value that was replaced. The error is ErrClosed or ErrFull.
func (t *Table[K, V]) Set(h uint64, k K, v V, now int64, d time.Duration, c Condition) (old V, result Result, err error) {
	f := t.find(h, k)
	s := f.shard
	if f.i == 0 {
		if _, err := s.AddHere(Entry[K, V]{Key: k, Value: v, hash: uint32(h)}, now, d, 0); err != nil {
			return old, NotSet, err
		}
		return old, SetNew, nil
	}
	n := s.Timers.Arena().At(f.i)
	if !c.holds(n.Key, engine.DeadlineAfter(now, d)) {
		s.Mu.Unlock()
		return old, NotSet, nil
	}
	e := s.Timers.Value(f.i)
	old, e.Value = e.Value, v
	s.Reschedule(f.i, n, now, d)
	return old, SetAgain, nil
}

// Move makes the timer of k due d after now, and reports whether k was pending. The error is ErrClosed.
func (t *Table[K, V]) Move(h uint64, k K, now int64, d time.Duration) (bool, error) {
	f := t.find(h, k)
	s := f.shard
	if f.i != 0 {
		s.Reschedule(f.i, s.Timers.Arena().At(f.i), now, d)
		return true, nil
	}
	defer s.Mu.Unlock()
	if s.Closed {
		return false, engine.ErrClosed
	}
	return false, nil
}

// Remove stops the timer of k and returns its value. It reports whether k was pending.
func (t *Table[K, V]) Remove(h uint64, k K) (v V, ok bool) {
	f := t.find(h, k)
	s := f.shard
	if f.i == 0 {
		s.Mu.Unlock()
		return v, false
	}
	v = s.Timers.Value(f.i).Value
	f.index.remove(s.Timers, f.i)
	s.UnlockStopped(f.i)
	return v, true
}

// Get returns the value and the deadline of k, and reports whether k is pending.
func (t *Table[K, V]) Get(h uint64, k K) (v V, deadline int64, ok bool) {
	f := t.find(h, k)
	if f.i != 0 {
		v, deadline = f.shard.Timers.Value(f.i).Value, f.shard.Timers.Arena().At(f.i).Key
	}
	f.shard.Mu.Unlock()
	return v, deadline, f.i != 0
}
