package hierarchy

import (
	"sync/atomic"
)

const (
	// prepareEvery is the number of timers after which Expire prepares crowds.
	prepareEvery = 8
	// prepareBudget is about the number of nodes that Expire visits each time it prepares crowds, which takes some tens
	// of microseconds.
	prepareBudget = 256
	// prepareEach is the number of nodes that Expire visits for each new timer, if the new timers may be a crowd.
	prepareEach = 8
	// manyNew is the least number of new timers that may include a crowd.
	manyNew = 512
)

// prepare sorts or spreads crowds that are due soon, in small portions, so that no later timer takes long. If enough
// timers were set to be a crowd, prepare does more work, in proportion to their number.
func (d *Driven[T]) prepare(now int64) {
	budget := prepareBudget
	if d.unseen >= manyNew {
		budget = prepareEach * d.unseen
	} else if d.popped++; d.popped < prepareEvery {
		return
	}
	d.popped, d.unseen = 0, 0
	d.timers.CascadeAhead(now, budget)
}

// orders gives out orders and generations: ascending numbers that are unique in the process. So a handle of another
// wheel identifies nothing here.
type orders struct{ last, reserved uint64 }

// ordersGiven is the last order that was reserved so far.
var ordersGiven atomic.Uint64

// ordersAtOnce is the number of orders that are reserved at a time.
const ordersAtOnce = 1 << 12

func (o *orders) next() uint64 {
	if o.last == o.reserved {
		o.reserve()
	}
	o.last++
	return o.last
}

func (o *orders) reserve() {
	o.reserved = ordersGiven.Add(ordersAtOnce)
	o.last = o.reserved - ordersAtOnce
}
