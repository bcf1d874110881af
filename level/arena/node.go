package arena

// Flags are four bits that a node carries for its owner.
type Flags uint8

const (
	// SlotBits is the number of bits of a node for its slot.
	SlotBits = 6

	flagBits    = 4
	slotShift   = flagBits
	circleShift = slotShift + SlotBits
	orderShift  = circleShift + 4
	placeMask   = 1<<orderShift - 1<<slotShift
	linkBits    = 8

	// MaxSequence is the largest sequence number that a node can carry. At ten million timers a second, it is reached
	// after three years. From then on, timers with equal deadlines come in an arbitrary order.
	MaxSequence uint64 = 1<<(64-orderShift) - 1

	// Unlinked is the circle of a live node that no entry names, and Overdue the circle of a node whose entry is among those
	// behind the hand. All other circles are lower.
	Unlinked = 15
	Overdue  = 14
)

// Node is one timer: 24 bytes without a pointer.
type Node struct {
	Key  int64
	id   uint64 // generation, 56 bits; count of the node's links, 8 bits; 0 if the node is free
	rest uint64 // order, 50 bits; circle, 4 bits; slot, 6 bits; flags, 4 bits
}

// Init makes n a live node that belongs in the given slot of the given circle.
func (n *Node) Init(key int64, sequence uint64, f Flags, circle, slot int) {
	n.Key = key
	n.id = sequence << linkBits
	n.rest = sequence<<orderShift | uint64(circle)<<circleShift | uint64(slot)<<slotShift | uint64(f)
}

// Generation returns the sequence number under which the node was made, or 0.
func (n *Node) Generation() uint64 { return n.id >> linkBits }

// Flags returns the flags passed to Init.
func (n *Node) Flags() Flags { return Flags(n.rest & (1<<flagBits - 1)) }

// Order returns the sequence number that decides between equal keys.
func (n *Node) Order() uint64 { return n.rest >> orderShift }

// Circle returns the circle on which n belongs, Overdue or Unlinked.
func (n *Node) Circle() int { return int(n.rest >> circleShift & 15) }

// Slot returns the slot of its circle in which n belongs.
func (n *Node) Slot() int { return int(n.rest >> slotShift & (1<<SlotBits - 1)) }

// Stamp returns the stamp in the entry that names the node. Entries that named the node earlier have other stamps.
func (n *Node) Stamp() uint32 { return uint32(n.id) }

// Relink makes all entries that name n stale, and sets where n belongs.
func (n *Node) Relink(circle, slot int) {
	n.id = n.id&^(1<<linkBits-1) | (n.id+1)&(1<<linkBits-1)
	n.rest = n.rest&^placeMask | uint64(circle)<<circleShift | uint64(slot)<<slotShift
}

// Rekey gives n a new deadline and order.
func (n *Node) Rekey(key int64, sequence uint64) {
	n.Key = key
	n.rest = sequence<<orderShift | n.rest&(1<<orderShift-1)
}

// Named reports whether an entry with that stamp is valid.
func (n *Node) Named(stamp uint32) bool {
	unlinked := uint32((n.rest>>circleShift&15 + 1) >> 4) // 1 or 0: no branch that is hard to predict
	return uint32(n.id)^stamp|unlinked == 0
}

// Linked reports whether n waits for its deadline.
func (n *Node) Linked() bool { return n.Circle() != Unlinked }
