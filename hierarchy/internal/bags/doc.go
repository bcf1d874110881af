// Package bags is a timing wheel whose slots are bags: arrays of entries that name nodes, to which
// one only appends. It is to take the place of packages level and circles, and nothing uses it yet.
// It has no lock, no clock and no goroutine.
//
// An entry counts only as long as its stamp is the node's. So nothing is ever taken out of a slot: a
// timer that is removed or moved earlier leaves a stale entry behind, and one that moves later leaves
// its entry where it is. Where a timer is placed is arithmetic, as in package circles.
//
// # What happens when the hand comes to a slot
//
//	up to SortUpTo entries   they are read: those that count are sorted into a run, from which they fire
//	more, of one instant     they go down to the finest circle as they are, and are read there
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
// next finer circle. Nodes do not know of this: they count in the slot where they were linked.
//
// # Files
//
//	node.go      a timer
//	arena.go     the memory of nodes
//	bag.go       slots, and what is in them
//	store.go     memory of slots for later
//	circles.go   the state, and adding, moving and removing a node
//	next.go      what is due, or when to ask again
//	open.go      what happens when the hand comes to a slot
//	deal.go      dealing a slot over finer ones, also ahead of its time
//	earliest.go  the exact earliest timer, before it is due
//	run.go       sorted entries
//	sort.go      sorting them
//	heap.go      what was linked behind the hand
//	sweep.go     dropping stale entries
//	check.go     the invariants, for tests
package bags
