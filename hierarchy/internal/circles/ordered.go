package circles

import (
	"slices"
	"sort"

	"github.com/epicycle-go/epicycle/level"
)

// ordered is a set of items in order. It holds the timers that are due and may be a crowd: those of one instant, and
// those behind the hand. Items are added and removed anywhere, which moves no more than a block of them. So a timer that
// goes leaves nothing behind, no call takes long, and memory stays in proportion to the items.
type ordered struct {
	blocks  [][]level.Item // Invariant: none is empty, or longer than blockItems. blocks[0][at:] and all other blocks are in order
	at      int            // number of items of the first block that are gone. Invariant: less than the length of that block
	n       int            // Invariant: the number of items
	fetched int            // at most the number of items at the front that were touched
	spare   []level.Item   // an empty block to be used next, or nil
}

const (
	// blockItems is the most items of a block, which then takes 6 kB.
	blockItems = 256
	// fewInBlock is the number of items below which a block is joined with its neighbour, if both fit into half a block.
	fewInBlock = blockItems / 4
)

// first returns the first level.Item. There must be one.
func (o *ordered) first() *level.Item { return &o.blocks[0][o.at] }

// last returns the last item. There must be one.
func (o *ordered) last() *level.Item {
	block := o.blocks[len(o.blocks)-1]
	return &block[len(block)-1]
}

// front returns up to n of the first items, and at least one if there is one.
func (o *ordered) front(n int) []level.Item {
	if o.n == 0 {
		return nil
	}
	first := o.blocks[0][o.at:]
	return first[:min(n, len(first))]
}

// push adds x behind all others, and reports whether it belongs there. If not, sort must follow.
func (o *ordered) push(x level.Item) (inOrder bool) {
	inOrder = o.n == 0 || !x.Before(*o.last())
	if last := len(o.blocks) - 1; last >= 0 && len(o.blocks[last]) < blockItems {
		o.blocks[last] = append(o.blocks[last], x)
	} else {
		o.blocks = append(o.blocks, append(o.newBlock(), x))
	}
	o.n++
	return inOrder
}

// newBlock returns an empty block. Unless the block is the only one, it has room for all items of a block.
func (o *ordered) newBlock() (block []level.Item) {
	switch {
	case o.spare != nil:
		block, o.spare = o.spare, nil
	case o.n > 0:
		block = make([]level.Item, 0, blockItems)
	}
	return block
}

// sort puts all items in order.
func (o *ordered) sort() {
	all := make([]level.Item, 0, o.n)
	for b, block := range o.blocks {
		if b == 0 {
			block = block[o.at:]
		}
		all = append(all, block...)
	}
	slices.SortFunc(all, level.Compare)
	*o = ordered{}
	for _, x := range all {
		o.push(x)
	}
}

// insert adds x where it belongs, and returns true.
func (o *ordered) insert(x level.Item) bool {
	if o.n == 0 || !x.Before(*o.last()) {
		return o.push(x)
	}
	b, i := o.place(x)
	if len(o.blocks[b]) >= blockItems {
		o.split(b)
		b, i = o.place(x)
	}
	o.blocks[b] = slices.Insert(o.blocks[b], i, x)
	o.n++
	if b == 0 {
		o.fetched = min(o.fetched, i-o.at)
	}
	return true
}

// place returns the block to which x belongs, and the index there. There must be a block.
func (o *ordered) place(x level.Item) (b, i int) {
	b = sort.Search(len(o.blocks)-1, func(b int) bool { return x.Before(o.blocks[b+1][0]) })
	from := 0
	if b == 0 {
		from = o.at
	}
	block := o.blocks[b][from:]
	return b, from + sort.Search(len(block), func(i int) bool { return !block[i].Before(x) })
}

// split makes room in block b: it drops what is gone of the first block, or makes two blocks of b.
func (o *ordered) split(b int) {
	block := o.blocks[b]
	if b == 0 && o.at > 0 {
		o.blocks[0] = append(block[:0], block[o.at:]...)
		o.at = 0
		return
	}
	half := len(block) / 2
	o.blocks = slices.Insert(o.blocks, b+1, append(o.newBlock(), block[half:]...))
	o.blocks[b] = block[:half]
}

// remove removes the item with that deadline and order, and reports whether there was one.
func (o *ordered) remove(key int64, order uint64) bool {
	x := level.Item{Key: key, Order: order}
	if o.n == 0 || x.Before(*o.first()) {
		return false
	}
	b, i := 0, o.at
	if o.first().Before(x) {
		b, i = o.place(x)
	}
	block := o.blocks[b]
	if i == len(block) || x.Before(block[i]) {
		return false
	}
	if b == 0 && i-o.at < o.fetched {
		o.fetched--
	}
	o.n--
	if b == 0 && i == o.at {
		o.at++
	} else {
		o.blocks[b] = slices.Delete(block, i, i+1)
	}
	o.tidy(b)
	return true
}

// removeFirst removes the first level.Item.
func (o *ordered) removeFirst() {
	x := o.first()
	o.remove(x.Key, x.Order)
}

// tidy drops block b if it is empty, or joins it with a neighbour if both have few items.
func (o *ordered) tidy(b int) {
	n := len(o.blocks[b])
	switch {
	case n == 0 || b == 0 && n == o.at:
		o.dropBlock(b)
	case b > 0 && n < fewInBlock && !o.join(b):
		o.join(b - 1)
	}
}

// join joins block b with the next one, and reports whether it did: it must not be the first one, and both must have few
// items.
func (o *ordered) join(b int) bool {
	if b == 0 || b+1 == len(o.blocks) || len(o.blocks[b])+len(o.blocks[b+1]) > blockItems/2 {
		return false
	}
	o.blocks[b] = append(o.blocks[b], o.blocks[b+1]...)
	o.dropBlock(b + 1)
	return true
}

// dropBlock drops block b, whose items are gone or elsewhere.
func (o *ordered) dropBlock(b int) {
	o.spare = o.blocks[b][:0]
	if b == 0 {
		o.at = 0
	}
	if b == 0 && len(o.blocks) > 1 {
		o.blocks[0] = nil
		o.blocks = o.blocks[1:]
		return
	}
	o.blocks = slices.Delete(o.blocks, b, b+1)
}

// trim drops memory that only large crowds need. There must be no item.
func (o *ordered) trim() {
	if cap(o.spare) > 2*readTogether {
		*o = ordered{}
	}
}
