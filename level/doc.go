// Package level is one circle of a hierarchical timing wheel: its 64 slots, what a slot holds, and the arithmetic of its
// width. It knows nothing of the present time, of other circles but those that are its slots' own, of locks or
// goroutines. Package hierarchy/internal/circles decides which circle a timer belongs to, and what is done with a slot
// when its time has come. Nothing here is safe for concurrent use.
//
//	Circle    slot 0   slot 1   …  slot 17   …  slot 63
//	                   b            d, e
//	          occupied: one bit a slot, so the first timer is found at once
//
// A slot holds entries, in the order in which they came. If its time is near, some of them may have been sorted into a
// run, or cascaded over a sub-circle: a finer circle of the slot's own, a turn of which is the slot.
//
// Timers are nodes of package level/arena, and entries name them.
//
//	circle.go    a circle, its slots, and which of them a time belongs to
//	run.go       entries in the order of their deadlines, and how they are sorted
package level
