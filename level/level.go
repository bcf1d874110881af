package level

import "math/bits"

const (
	// Bits is how many bits of a key name a slot.
	Bits = 6
	// Slots is how many slots a circle has.
	Slots = 1 << Bits
)

// Level is one circle. The zero Level is empty and ready to use. The arena
// given to its methods must be the one its nodes live in.
type Level struct {
	occupied uint64 // Invariant: bit s is set iff slot s holds a node.
	unsorted uint64 // Invariant: a slot whose bit is clear is sorted by Before.
	slots    [Slots]list
}

// list is a doubly linked list of nodes, first in first out. If head is 0 but n is not, the
// nodes are not linked; see Loosen.
type list struct{ head, tail, n uint32 }

// Empty tells whether no slot holds a node.
func (l *Level) Empty() bool { return l.occupied == 0 }

// First is the lowest slot that holds a node. The level must not be empty.
func (l *Level) First() int { return bits.TrailingZeros64(l.occupied) }

// FirstFrom is the lowest slot from s on that holds a node, or Slots.
func (l *Level) FirstFrom(s int) int { return bits.TrailingZeros64(l.occupied >> uint(s) << uint(s)) }

// Len is the number of nodes in slot s.
func (l *Level) Len(s int) int { return int(l.slots[s].n) }

// Head is the first node of slot s, or 0. The slot must not be loose.
func (l *Level) Head(s int) uint32 { return l.slots[s].head }

// Tail is the last node of slot s, or 0. The slot must not be loose.
func (l *Level) Tail(s int) uint32 { return l.slots[s].tail }

// Sorted tells whether slot s is known to be in order, its head the earliest.
func (l *Level) Sorted(s int) bool { return l.unsorted>>uint(s)&1 == 0 }

// Push appends n, the node of index i, to the slot it belongs in.
func (l *Level) Push(a *Arena, i uint32, n *Node) {
	q := &l.slots[n.Slot()]
	if q.n > 0 {
		l.pushBehind(a, q, i, n)
		return
	}
	n.next, n.prev = 0, 0
	*q = list{i, i, 1}
	l.occupied |= 1 << n.Slot()
}

func (l *Level) pushBehind(a *Arena, q *list, i uint32, n *Node) {
	if q.head == 0 { // loosened
		q.n++
		return
	}
	n.next, n.prev = 0, q.tail
	t := a.At(q.tail)
	t.next = i
	if l.Sorted(n.Slot()) && n.Before(t) { // the cheaper and more predictable one first
		l.unsorted |= 1 << n.Slot()
	}
	q.tail = i
	q.n++
}

// Remove takes n out of its slot, and tells whether the level is empty now.
func (l *Level) Remove(a *Arena, n *Node) (empty bool) {
	q := &l.slots[n.Slot()]
	if q.n > 1 {
		if q.head == 0 { // loosened
			q.n--
		} else {
			q.remove(a, n)
		}
		return false
	}
	*q = list{}
	l.occupied &^= 1 << n.Slot()
	l.unsorted &^= 1 << n.Slot()
	return l.occupied == 0
}

// remove takes n out of q, where it is not alone.
func (q *list) remove(a *Arena, n *Node) {
	if n.prev != 0 {
		a.At(n.prev).next = n.next
	} else {
		q.head = n.next
	}
	if n.next != 0 {
		a.At(n.next).prev = n.prev
	} else {
		q.tail = n.prev
	}
	q.n--
}

// Loosen forgets the list of slot s, until the slot is empty: its nodes only know that they
// belong there. To take one out is several times as fast then, as it touches no other node. Only
// a scan of the arena finds them, in no order.
func (l *Level) Loosen(s int) {
	if q := &l.slots[s]; q.n > 0 {
		q.head, q.tail = 0, 0
		l.unsorted |= 1 << uint(s)
	}
}

// Loose tells whether slot s was loosened.
func (l *Level) Loose(s int) bool { return l.slots[s].head == 0 && l.slots[s].n > 0 }

// Clear makes slot s empty. Its nodes must have been unlinked.
func (l *Level) Clear(s int) {
	l.slots[s] = list{}
	l.occupied &^= 1 << uint(s)
	l.unsorted &^= 1 << uint(s)
}

// Rekeyed notes that node n, in its slot, was given another key or order: an earlier one if
// all bits of earlier are set, a later one if none is. The slot stays sorted if the last
// node moves later or the first node earlier. Otherwise it is taken for unsorted: looking
// at a neighbour would cost a cache miss.
func (l *Level) Rekeyed(n *Node, earlier int64) {
	if n.next&^uint32(earlier)|n.prev&uint32(earlier) != 0 {
		l.unsorted |= 1 << uint(n.Slot())
	}
}

// Each calls f for each node of slot s, in the order of its list. f may remove the node
// that it is called with. The slot must not be loose.
func (l *Level) Each(a *Arena, s int, f func(i uint32, n *Node)) {
	for i := l.slots[s].head; i != 0; {
		n := a.At(i)
		next := n.next
		f(i, n)
		i = next
	}
}
