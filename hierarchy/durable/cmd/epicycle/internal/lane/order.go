package lane

import (
	"container/heap"
	"slices"
)

// order has timers in order of their due times. Some of them may have left.
type order struct {
	items
	gone   int // how many of the items have left
	unused int // how many timers were pushed since the order was last used
}

// least is a number of items that are not worth the work of removing them.
const least = 32

func (o *order) add(it *item) { heap.Push(&o.items, it) }

// first returns the first timer that has not left, or nil.
func (o *order) first() *item {
	for len(o.items) > 0 && o.items[0].gone {
		o.next()
		o.gone--
	}
	if len(o.items) == 0 {
		return nil
	}
	return o.items[0]
}

// next removes the first item.
func (o *order) next() { heap.Pop(&o.items) }

// left is called when one of the items was marked as gone. It removes those that are, if they are the greater part.
func (o *order) left() {
	if o.gone++; o.gone > len(o.items)/2+least {
		o.items, o.gone = slices.Clone(slices.DeleteFunc(o.items, func(it *item) bool { return it.gone })), 0
		heap.Init(&o.items)
	}
}

// items implements heap.Interface.
type items []*item

func (o items) Len() int { return len(o) }

func (o items) Less(i, j int) bool { return o[i].before(o[j]) }

// before reports whether it comes before another timer.
func (it *item) before(other *item) bool {
	if c := it.At.Compare(other.At); c != 0 {
		return c < 0
	}
	return it.seq < other.seq
}

func (o items) Swap(i, j int) { o[i], o[j] = o[j], o[i] }

func (o *items) Push(x any) { *o = append(*o, x.(*item)) }

func (o *items) Pop() any {
	old := *o
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*o = old[:len(old)-1]
	return last
}
