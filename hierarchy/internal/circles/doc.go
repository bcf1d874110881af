// Package circles is the timing wheel itself: timers of any delay on circles of slots, each of which is
// 64 times as wide as one of the next finer circle. It has no lock, no clock and no goroutine, and times are
// numbers of nanoseconds.
//
// A slot is a bag: a chain of entries that name nodes, in the order in which they came. Where a timer is
// placed is arithmetic on the bits of its deadline: the circle is that of the highest bit in which deadline
// and hand differ, and the slot is that digit of the deadline.
//
// An entry counts only as long as its stamp is the node's. So nothing is ever taken out of a slot: a
// timer that is removed or moved earlier leaves a stale entry behind, and one that moves later leaves
// its entry where it is.
//
// # What happens when the hand comes to a slot
//
//	up to SortUpTo entries   they are read: those that count are sorted into a run, from which they fire
//	more, of one finer slot  they go down there as they are: to the finest circle if they are of one instant,
//	                         where they are read in portions
//	more                     they are dealt over the slots of the next finer circle
//
// Each circle has at most one run, that of its slot under the hand. What is linked behind the hand goes
// into a heap. The earliest of the heads of the runs and of the heap, or what is in the first slot, is
// next. So timers come in the order of their deadlines, and of setting where these are equal.
//
// # Ahead of its time
//
// A slot can be sorted, or dealt over finer slots of its own, before the hand arrives: a crowd so that
// its first timer need not wait for all others, and any slot to find out its earliest deadline. What is
// linked there later goes to the finer slots, too. When the hand arrives, these take the place of the
// next finer circle. The nodes are not changed: they count in the slot where they were linked.
//
// # Files
//
//	layout.go    which circle and slot a time belongs to
//	store.go     what a slot holds, and spare memory for it
//	circles.go   the state, and adding, moving and removing a node
//	place.go     where a node is linked
//	next.go      what is due, or when to ask again; the earliest timer of a slot before it is due
//	open.go      what happens when the hand comes to a slot
//	deal.go      dealing a slot over finer ones, also ahead of its time
//	near.go      about how many timers are due soon
//	run.go       sorted entries, and how they are sorted
//	heap.go      what was linked behind the hand
//	sweep.go     dropping stale entries
//	tuning.go    sizes that choose between algorithms
//	check.go     the invariants, for tests
package circles
