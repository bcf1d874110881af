// Package level is the innermost part of a hierarchical timing wheel: one
// circle of 64 slots, and the arena in which the timers of all circles live.
//
// It is a pure data structure. It knows slots, occupancy, lists and nodes. It knows
// nothing of time, locks or goroutines, and a node's key is only a number to sort by.
// Package hierarchy decides what a key means, when a slot is emptied, and who may call.
// Nothing here is safe for concurrent use.
//
//	arena    chunk 0            chunk 1            chunk 2
//	         [-|a|b| |c|d| ]    [-|e| |f|g|h|i]    (given back)
//	              │     └──────────┐
//	level    slot 0   slot 1   …  slot 17   …  slot 63
//	                   b            d ⇄ e
//	         occupied: one bit a slot, so the first timer is found at once
//
// A node is named by a 32-bit index, links are indexes, and chunks hold nodes by value. So
// a million timers are a few hundred objects to the garbage collector. A chunk without
// live nodes is freed.
package level
