// Package level is what one circle of a hierarchical timing wheel needs: 64 slots, the chains of entries
// that they hold, and the arena in which the timers of all circles live.
//
// It is a pure data structure. It knows nothing of time, locks or goroutines, and a node's key is only a
// number. Package hierarchy/internal/circles decides what a key means and what is done with a slot when its
// time has come. Nothing here is safe for concurrent use.
//
//	arena    chunk 0            chunk 1            chunk 2
//	         [-|a|b| |c|d| ]    [-|e| |f|g|h|i]    (given back)
//	              ↑     ↑───────────┐
//	level    slot 0   slot 1   …  slot 17   …  slot 63
//	                   b            d, e
//	         occupied: one bit a slot, so the first timer is found at once
//
// A node is named by a 32-bit index, and chunks hold nodes by value. So a million timers are some thousand objects to
// the garbage collector. A few chunks without live nodes are kept, and further ones are freed.
//
// # Entries are not taken out
//
// An Entry names a node by its index and its stamp. An entry is valid as long as its node has the same stamp, and
// removing a timer changes only the node. So a slot only grows, at its end, until its time comes or its stale entries
// are swept out.
//
// A stamp has 32 bits. Its upper bits are the lowest bits of the generation, and its lower bits count how often the
// node was linked. A stamp may come back after millions of others. Then a stale entry becomes valid again, and two
// entries name one node. This does no harm, as whoever reads an entry looks at the node's deadline.
//
//	level.go    the slots of a circle
//	chain.go    the chains that slots hold, and memory for them
//	node.go     a timer
//	arena.go    the memory of nodes
//	scan.go     going through all nodes
//	check.go    the invariants, for tests
package level
