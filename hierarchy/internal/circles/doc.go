// Package circles is the timing wheel itself: timers of any delay on circles of slots, each of which is
// 64 times as wide as one of the next finer circle. It has no lock, no clock and no goroutine, and times are
// numbers of nanoseconds.
//
// A slot holds entries that name nodes, in the order in which they came. Placing a timer is arithmetic
// on the bits of its deadline. A circle holds some bits of the deadline, which are a digit. The timer goes to the
// circle of the highest digit in which its deadline and the hand differ. The deadline's digit there is the number of
// the slot.
//
// An entry is valid as long as its stamp is the stamp of its node. So nothing is ever taken out of a slot: a timer that
// is removed or moved earlier leaves a stale entry behind, and a timer that moves later leaves its entry where it is.
//
// # What happens when the hand comes to a slot
//
//	up to SortUpTo entries   they are read: the valid ones are sorted into a run, from which they fire
//	more, of one finer slot  they go down to that slot unread: to the circle of the highest digit in which they and
//	                         the hand differ. Entries of one instant come to circle 0, where they are read in portions
//	more                     they cascade over the slots of the next finer circle
//
// Each circle has at most one run, which is from its slot under the hand. On circle 0, whose slots are single instants,
// the run may be a crowd, as may be the entries behind the hand. So both are kept in blocks, from which timers that are
// removed or moved are taken out. The next timer is the earliest of all heads, or in the first occupied slot. So timers
// come in the order of their deadlines, and of setting where these are equal.
//
// # Ahead of its time
//
// A slot can be sorted, or cascaded over a sub-circle of its own, before the hand arrives. A crowd is cascaded so that its
// first timer need not wait for all others. Any slot may be sorted or cascaded to find out its earliest deadline. Entries
// that come to such a slot later go to the sub-circle, too. When the hand arrives, the sub-circle takes the place of the
// next finer circle. The nodes are not changed: each node counts in the slot where it was linked.
//
// # Files
//
//	layout.go    which circle and slot a time belongs to
//	store.go     making circles and slots, and spare memory for them
//	circles.go   the state, and adding, moving and removing a node
//	place.go     where a node is linked
//	next.go      the timer that is due, or the time to ask again; the earliest timer of a slot
//	open.go      what happens when the hand comes to a slot
//	cascade.go   moving a slot's entries to finer circles, also ahead of its time
//	near.go      about how many timers are due soon
//	run.go       the first timer of what is sorted
//	ordered.go   entries in order, in blocks: of the instant under the hand, and behind the hand
//	sweep.go     dropping stale entries
//	tuning.go    sizes that choose between algorithms
//	check.go     the invariants, for tests
package circles
