//go:build lockorder

package partition

import (
	"bytes"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// mutex panics if a goroutine locks it out of order. It also panics if a goroutine calls a function that needs the lock
// and does not hold the lock. The table in partition.go has the order. Builds without the tag lockorder check nothing.
type mutex struct {
	mu    sync.Mutex
	outer bool
}

// isOuter makes m an outer lock. It must be called before m is used.
func (m *mutex) isOuter() { m.outer = true }

func (m *mutex) Lock() {
	g := goroutine()
	locks := locksOf(g)
	for _, before := range locks {
		if m.outer || !before.outer {
			panic("partition: a lock is taken out of order")
		}
	}
	m.mu.Lock()
	held.Store(g, append(locks, m))
}

func (m *mutex) Unlock() {
	g := goroutine()
	m.assertHeldBy(g)
	if left := slices.DeleteFunc(locksOf(g), func(l *mutex) bool { return l == m }); len(left) > 0 {
		held.Store(g, left)
	} else {
		held.Delete(g)
	}
	m.mu.Unlock()
}

// assertHeld panics unless this goroutine has locked m.
func (m *mutex) assertHeld() { m.assertHeldBy(goroutine()) }

func (m *mutex) assertHeldBy(g uint64) {
	if !slices.Contains(locksOf(g), m) {
		panic("partition: a lock is not held")
	}
}

// held has an entry for each goroutine that holds locks: these locks, in the order in which the goroutine took them.
var held sync.Map // []*mutex by the number of a goroutine

func locksOf(g uint64) []*mutex {
	locks, _ := held.Load(g)
	all, _ := locks.([]*mutex)
	return all
}

// goroutine returns the number of the running goroutine.
func goroutine() uint64 {
	var space [64]byte
	number, _, _ := bytes.Cut(bytes.TrimPrefix(space[:runtime.Stack(space[:], false)], []byte("goroutine ")), []byte(" "))
	g, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic(err)
	}
	return g
}
