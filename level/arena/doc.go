// Package arena has the memory of a timing wheel: the nodes of timers, and the chains of entries that name them. It
// knows nothing of time, locks or goroutines, and a node's key is only a number. Nothing here is safe for concurrent
// use.
//
//	arena    chunk 0            chunk 1            chunk 2
//	         [-|a|b| |c|d| ]    [-|e| |f|g|h|i]    (given back)
//	              ↑     ↑───────────┐
//	chains       (a)   (b d)       (e)
//
// A node is named by a 32-bit index, and chunks hold nodes by value. So a million timers are some thousand objects to
// the garbage collector. A few chunks without live nodes are kept, and further ones are freed.
//
// # Entries are not taken out
//
// An Entry names a node by its index and its stamp. An entry is valid as long as its node has the same stamp, and
// removing a timer changes only the node. So a chain only grows, at its end, until its time comes or its stale entries
// are swept out.
//
// A stamp has 32 bits. Its upper bits are the lowest bits of the generation, and its lower bits count how often the
// node was linked. A stamp may come back after millions of others. Then a stale entry becomes valid again, and two
// entries name one node. This does no harm, as whoever reads an entry looks at the node's deadline.
//
//	node.go     a timer
//	arena.go    the memory of nodes
//	chain.go    chains of entries, and memory for them
//	scan.go     going through all nodes
//	check.go    the invariants, for tests
package arena
