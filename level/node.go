package level

// Flags are four bits that a node carries for its owner.
type Flags uint8

const (
	flagBits    = 4
	slotShift   = flagBits
	circleShift = slotShift + Bits
	orderShift  = circleShift + 4
	placeMask   = 1<<orderShift - 1<<slotShift
	linkBits    = 8

	// MaxSequence is the largest sequence number that a node can carry: at ten million a second, that is reached after
	// three years. From then on it is arbitrary which of two equal deadlines comes first.
	MaxSequence uint64 = 1<<(64-orderShift) - 1

	// Unlinked is the circle of a live node that no entry names, and Passed the circle of a node in the heap of entries
	// behind the hand. All other circles are lower.
	Unlinked = 15
	Passed   = 14
)

// Node is one timer: 24 bytes without a pointer.
type Node struct {
	Key  int64
	id   uint64 // generation, 56 bits, and how often the node was linked, 8 bits; 0: the node is free
	rest uint64 // order, 50 bits; circle, 4; slot, 6; flags, 4
}

// Init makes n a live node that belongs in that slot.
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

// Circle returns the circle on which n belongs, Passed or Unlinked.
func (n *Node) Circle() int { return int(n.rest >> circleShift & 15) }

// Slot returns the slot in which n belongs there.
func (n *Node) Slot() int { return int(n.rest >> slotShift & (Slots - 1)) }

// Stamp returns the stamp in the entry that names the node. Entries that named it before have others.
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
