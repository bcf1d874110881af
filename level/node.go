package level

// Flags are four bits that a node carries for its owner.
type Flags uint8

const (
	flagBits   = 4
	flagMask   = 1<<flagBits - 1
	circleMask = 0xf
	metaBits   = 8 // low bits of stamp and order that hold something else

	// MaxSequence is the largest sequence number a node can carry: at a hundred
	// million a second they last for 22 years.
	MaxSequence uint64 = 1<<(64-metaBits) - 1

	// Unlinked is the circle of a live node that is in no slot, and Gathered of one that was
	// taken out of its slot with a crowd. All others are less.
	Unlinked = circleMask
	Gathered = circleMask - 1
)

// Node is one timer: 32 bytes without a pointer. Two nodes fill a cache line, and the
// garbage collector has nothing to scan. The timer's value is kept elsewhere, under the
// same index.
//
// Two words hold several things each, to keep it so small. Stamp is the generation (56
// bits), the circle (4) and the flags (4). Order is the order number (56), the side (1)
// and the slot (6). Generations and orders come from one sequence and are never given
// twice. So order decides between equal keys, and a generation tells a node from every
// other that used the same memory before or after.
type Node struct {
	Key        int64
	order      uint64
	stamp      uint64 // 0: the node is free
	next, prev uint32 // in a slot's list; next also links a chunk's free nodes
}

// Init makes n a live node that belongs in that slot, on that side of that circle.
func (n *Node) Init(key int64, sequence uint64, f Flags, circle, slot, side int) {
	n.Key = key
	n.order = sequence<<metaBits | uint64(slot) | uint64(side)<<Bits
	n.stamp = sequence<<metaBits | uint64(circle)<<flagBits | uint64(f)
}

// Generation is the sequence number under which the node was made, or 0.
func (n *Node) Generation() uint64 { return n.stamp >> metaBits }

// Flags are those that were passed to Init.
func (n *Node) Flags() Flags { return Flags(n.stamp & flagMask) }

// Circle is the circle n belongs on, or Gathered or Unlinked.
func (n *Node) Circle() int { return int(n.stamp >> flagBits & circleMask) }

// Slot is the slot n belongs in.
func (n *Node) Slot() int { return int(n.order & (Slots - 1)) }

// Side is the side of its circle that n belongs on, 0 or 1. A circle can have two.
func (n *Node) Side() int { return int(n.order >> Bits & 1) }

// Place sets where n belongs. n must not be in a slot.
func (n *Node) Place(circle, slot, side int) {
	n.stamp = n.stamp&^(circleMask<<flagBits) | uint64(circle)<<flagBits
	n.order = n.order>>metaBits<<metaBits | uint64(slot) | uint64(side)<<Bits
}

// Next is the node after n in its slot's list, or 0.
func (n *Node) Next() uint32 { return n.next }

// Unlink sets that n belongs nowhere. n must not be in a slot.
func (n *Node) Unlink() { n.stamp |= Unlinked << flagBits }

// Gather sets that n was taken out of its slot with a crowd. n must not be in a slot.
func (n *Node) Gather() {
	n.stamp = n.stamp&^(circleMask<<flagBits) | Gathered<<flagBits
}

// Order is the sequence number that decides between equal keys.
func (n *Node) Order() uint64 { return n.order >> metaBits }

// Rekey gives n a new key and order. In a slot, Level.Rekeyed must follow.
func (n *Node) Rekey(key int64, sequence uint64) {
	n.Key = key
	n.order = sequence<<metaBits | n.order&(1<<metaBits-1)
}

// Before tells whether n comes before m: by key, then by order.
func (n *Node) Before(m *Node) bool {
	return n.Key < m.Key || n.Key == m.Key && n.order < m.order
}
