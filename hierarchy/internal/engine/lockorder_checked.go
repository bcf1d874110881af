//go:build lockorder

package engine

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// lockOrder has builds with the tag lockorder panic if a goroutine takes a lock out of order, or does what
// needs a lock without it. Other builds check nothing.
type lockOrder struct{ rank, number int }

// is notes which place the lock has in the order.
func (o *lockOrder) is(rank, number int) { o.rank, o.number = rank, number }

// locked notes that this goroutine has locked o.
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

// unlocking notes that this goroutine is about to unlock o, its own.
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

// held is the locks of each goroutine that holds any, in the order in which it has taken them.
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
