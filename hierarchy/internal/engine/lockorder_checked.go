//go:build lockorder

package engine

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// lockOrder panics if a goroutine takes a lock out of order, or calls a function that requires the lock without holding
// it. Builds without the tag lockorder check nothing.
type lockOrder struct{ rank, number int }

// is sets the place of the lock in the order.
func (o *lockOrder) is(rank, number int) { o.rank, o.number = rank, number }

// locked records that this goroutine has locked o.
func (o *lockOrder) locked() {
	g := goroutine()
	mine, _ := held.LoadOrStore(g, new([]*lockOrder))
	locks := mine.(*[]*lockOrder)
	for _, before := range *locks {
		if o.rank < before.rank || o.rank == before.rank && o.number <= before.number {
			panic(fmt.Sprintf("hierarchy: lock %v taken under lock %v", *o, *before))
		}
	}
	*locks = append(*locks, o)
}

// unlocking records that this goroutine is about to unlock o, which it must hold.
func (o *lockOrder) unlocking() {
	o.assertHeld()
	g := goroutine()
	mine, _ := held.Load(g)
	locks := mine.(*[]*lockOrder)
	for i, l := range *locks {
		if l == o {
			*locks = append((*locks)[:i], (*locks)[i+1:]...)
			break
		}
	}
	if len(*locks) == 0 {
		held.Delete(g)
	}
}

// assertHeld panics unless this goroutine has locked o.
func (o *lockOrder) assertHeld() {
	if mine, ok := held.Load(goroutine()); ok {
		for _, l := range *mine.(*[]*lockOrder) {
			if l == o {
				return
			}
		}
	}
	panic(fmt.Sprintf("hierarchy: lock %v is not held", *o))
}

// held holds the locks of each goroutine that has any, in the order in which it took them.
var held sync.Map // of *[]*lockOrder by goroutine

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
