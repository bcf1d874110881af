package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// asItWas reports whether the node of x has not changed since it was read.
func (c *Circles) asItWas(x *level.Item) bool {
	n := c.arena.At(x.Node)
	return n.Named(x.Stamp) && n.Order() == x.Order
}

// headOf returns the first valid item of r, or nil. moved reports whether the node of an item before it had moved
// later, and was linked anew.
func (c *Circles) headOf(r *level.Run) (x *level.Item, moved bool) {
	for r.At < len(r.Items) {
		if r.At >= r.Fetched {
			next := r.Items[r.At:min(r.At+readTogether, len(r.Items))]
			r.Fetched = r.At + len(next)
			c.fetch(next)
		}
		x := &r.Items[r.At]
		if c.asItWas(x) {
			return x, moved
		}
		r.At++
		c.visited++
		moved = c.drop(x.Entry) || moved
	}
	return nil, moved
}

// fetch touches a few items that come next.
func (c *Circles) fetch(next []level.Item) {
	if c.touch == nil {
		return
	}
	nodes := c.fetched[:0]
	for _, x := range next {
		if c.arena.At(x.Node).Named(x.Stamp) {
			nodes = append(nodes, x.Node)
		}
	}
	c.touch(nodes)
}

// head returns the earliest item that was sorted. ok is false if there is no item.
func (c *Circles) head() (first level.Item, ok bool) {
	for again := true; again; { // nodes that have moved later may still come first
		first, ok = c.firstDue()
		again = false
		for left := c.running; left != 0; left &= left - 1 {
			k := bits.TrailingZeros32(left)
			x, moved := c.headOf(c.runs[k])
			again = again || moved
			if x == nil {
				c.running &^= 1 << uint(k)
				c.store.keepRun(c.runs[k])
				c.runs[k] = nil
			} else if !ok || x.Before(first) {
				first, ok = *x, true
			}
		}
	}
	return first, ok
}

// firstDue returns the earliest item behind the hand or of the instant under it.
func (c *Circles) firstDue() (first level.Item, ok bool) {
	if x := c.headOfOrdered(&c.overdue); x != nil {
		first, ok = *x, true
	}
	if x := c.headOfOrdered(&c.instant); x != nil && (!ok || x.Before(first)) {
		first, ok = *x, true
	}
	return first, ok
}

// headOfOrdered returns the first level.Item of o, or nil.
func (c *Circles) headOfOrdered(o *ordered) *level.Item {
	for o.n > 0 {
		if o.fetched == 0 {
			next := o.front(readTogether)
			o.fetched = len(next)
			c.fetch(next)
		}
		x := *o.first()
		if c.asItWas(&x) {
			return o.first()
		}
		o.removeFirst() // an entry that had got the stamp of a stale one
		c.visited++
		c.drop(x.Entry)
	}
	return nil
}
