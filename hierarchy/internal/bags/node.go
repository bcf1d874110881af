package bags

import "github.com/epicycle-go/epicycle/level"

// Flags are four bits that a node carries for its owner.
type Flags = level.Flags

const (
	flagBits    = 4
	slotShift   = flagBits
	circleShift = slotShift + level.Bits
	orderShift  = circleShift + 4
	placeMask   = 1<<orderShift - 1<<slotShift
	linkBits    = 8

	// MaxSequence is the largest sequence number that a node can carry.
	MaxSequence = 1<<(64-orderShift) - 1

	// Unlinked is the circle of a live node that no entry names, and Passed that of one in
	// the heap of what is behind the hand. All others are less.
	Unlinked = 15
	Passed   = 14
)

// Node is one timer: 24 bytes without a pointer.
type Node struct {
	Key  int64
	id   uint64 // generation, 56 bits, and how often the node was linked, 8 bits; 0: the node is free
	rest uint64 // order, 50 bits; circle, 4; slot, 6; flags, 4
}

func (n *Node) init(key int64, sequence uint64, f Flags, circle, slot int) {
	n.Key = key
	n.id = sequence << linkBits
	n.rest = sequence<<orderShift | uint64(circle)<<circleShift | uint64(slot)<<slotShift | uint64(f)
}

// Generation is the sequence number under which the node was made, or 0.
func (n *Node) Generation() uint64 { return n.id >> linkBits }

// Flags are those that were passed to Init.
func (n *Node) Flags() Flags { return Flags(n.rest & (1<<flagBits - 1)) }

// Order is the sequence number that decides between equal keys.
func (n *Node) Order() uint64 { return n.rest >> orderShift }

func (n *Node) circle() int { return int(n.rest >> circleShift & 15) }
func (n *Node) slot() int   { return int(n.rest >> slotShift & (level.Slots - 1)) }

// stamp is in the entry that names the node, and in none of those that named it before.
func (n *Node) stamp() uint32 { return uint32(n.id) }

// relink makes all entries stale that name n, and sets where it belongs.
func (n *Node) relink(circle, slot int) {
	n.id = n.id&^(1<<linkBits-1) | (n.id+1)&(1<<linkBits-1)
	n.rest = n.rest&^placeMask | uint64(circle)<<circleShift | uint64(slot)<<slotShift
}

// rekey gives n a new deadline and order.
func (n *Node) rekey(key int64, sequence uint64) {
	n.Key = key
	n.rest = sequence<<orderShift | n.rest&(1<<orderShift-1)
}

// named reports whether an entry with that stamp counts.
func (n *Node) named(stamp uint32) bool {
	unlinked := uint32((n.rest>>circleShift&15 + 1) >> 4) // 1 or 0: no branch that is hard to predict
	return uint32(n.id)^stamp|unlinked == 0
}

// Linked reports whether n waits for its deadline.
func (n *Node) Linked() bool { return n.circle() != Unlinked }
