package linear

import (
	"math"
	"sync/atomic"
)

// search looks for an order of the operations on a key: depth first, the operation that began first before others, and
// never twice from the same operations and register. The algorithm is that of Wing and Gong, with the memory of Lowe.
type search struct {
	ops   []operation // by the times at which they began
	stop  *atomic.Bool
	done  []byte // a bit for each operation: whether it was committed
	seen  map[place]bool
	order []int // the operations that were committed, and the longest order that was found
	best  []int
}

// place is where a search was: all operations below low were committed, those of beyond, and no others.
type place struct {
	low    int
	beyond string
	r      register
}

func newSearch(ops []operation, stop *atomic.Bool) *search {
	return &search{ops: ops, stop: stop, done: make([]byte, len(ops)/8+1), seen: make(map[place]bool)}
}

// from reports whether the operations that were not committed can be, all of which are at low or beyond it.
func (s *search) from(low int, r register) bool {
	for low < len(s.ops) && s.has(low) {
		low++
	}
	if len(s.order) == len(s.ops) {
		s.best = s.order
		return true
	}
	if s.stop.Load() || s.wasHere(low, r) {
		return false
	}
	ended := int64(math.MaxInt64) // no operation can be next that began after another one ended
	for i := low; i < len(s.ops) && s.ops[i].Begun <= ended; i++ {
		if s.has(i) {
			continue
		}
		ended = min(ended, s.ops[i].Ended)
		if fits, after := s.ops[i].step(r); fits && s.commit(i, low, after) {
			return true
		}
	}
	return false
}

// commit commits an operation, and reverts that if the others have no order after it.
func (s *search) commit(i, low int, after register) bool {
	s.order = append(s.order, i)
	s.done[i/8] |= 1 << (i % 8)
	if s.from(low, after) {
		return true
	}
	if len(s.order) > len(s.best) {
		s.best = append(s.best[:0], s.order...)
	}
	s.order = s.order[:len(s.order)-1]
	s.done[i/8] &^= 1 << (i % 8)
	return false
}

func (s *search) has(i int) bool { return s.done[i/8]&(1<<(i%8)) != 0 }

// wasHere reports whether the search was here before, and notes that it is.
func (s *search) wasHere(low int, r register) bool {
	end := len(s.done)
	for end > low/8 && s.done[end-1] == 0 {
		end--
	}
	p := place{low, string(s.done[low/8 : end]), r}
	was := s.seen[p]
	s.seen[p] = true
	return was
}
