package circles

import "github.com/epicycle-go/epicycle/level"

// bag is a slot: entries, and what was prepared of those that were there before.
type bag struct {
	level.Chain
	least, most int64 // Invariant: the deadline of no entry of the chain that counts is less, nor was any more when it was added
	finer       *ring // what was dealt ahead, or nil
	run         *run  // what was sorted ahead, or nil
	next        *bag  // of those that are spare
}

// holds reports whether anything is in b.
func (b *bag) holds() bool { return b.Len() > 0 || b.finer != nil || b.run != nil }

// span has least and most take key in, which is that of an entry about to be added.
func (b *bag) span(key int64) {
	if b.Len() == 0 {
		b.least, b.most = key, key
	}
	b.least, b.most = min(b.least, key), max(b.most, key)
}

// ring is the slots of a circle, or those over which a slot of the next coarser one was dealt ahead.
type ring struct {
	level.Level[*bag]                    // Invariant: nil iff it holds nothing
	crowds            uint64             // Invariant: bit s is set if slot s of a coarser circle than the finest holds a crowd
	live              [level.Slots]int32 // nodes that were linked there. Invariant: 0 if it is not a circle's
	circle            int
	number            int // in the list of all rings
}
