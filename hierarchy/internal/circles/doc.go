// Package circles is the timing wheel itself: circles of slots, and the rules by which
// timers move between them. It has no lock, no clock and no goroutine. Callers pass the
// time in, and see to it that one call is made at a time.
//
// A timer here is a node of package level: a deadline, an order and a place. What the
// timer is for is kept by package timers, one floor up.
//
// # Where a timer is placed
//
// A slot of one circle is a whole turn of the next finer circle, and all widths are
// powers of two. A timer's circle is that of the highest bit in which its deadline and
// the hand differ, and its slot is the deadline's digit there (layout.go). So whatever
// is on a finer circle is due before anything on a coarser one. A deadline that the hand
// has passed is placed in the same way, in a slot behind the hand. There it is the other
// way round: the coarsest circle is due first.
//
// # What happens when a slot is opened
//
// Next looks at the first slot in time (next.go). A slot that is sorted, or small enough
// to sort, fires from where it is. A large one that is out of order is opened when the
// hand comes to it: its timers are poured over the finer circles (openslot.go). A crowd of
// thousands is poured ahead of its time, onto a second side of the finer circle, which
// takes the place of the first one when the hand arrives (ahead.go).
//
// Where timers must come in order, as in a Driven, crowds are gathered instead: taken out of
// their slots and sorted in arrays, in portions before their time (queues.go, gather.go).
//
// # Files
//
//	layout.go    arithmetic: circle, slot, and range of a time
//	tuning.go    the sizes that choose between algorithms
//	circles.go   the state, and adding, moving and removing a node
//	next.go      what is due, or when to ask again
//	openslot.go  pouring out the slots under the hand
//	ahead.go     the second side of a circle, and how it takes its place
//	crowds.go    pouring crowds there before the hand arrives
//	earliest.go  the exact earliest timer, before it is due
//	queues.go    crowds that were gathered, and what comes first of all
//	merge.go     merging them, and sweeping out what has moved or gone
//	gather.go    gathering one slot, in portions
//	gatherdue.go gathering all slots that are due, at once
//	radix.go     sorting what was gathered
//	check.go     the invariants, for tests
package circles
