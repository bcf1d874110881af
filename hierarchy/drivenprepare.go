package hierarchy

import (
	"sync/atomic"
)

const (
	// prepareEvery is the number of timers after which Expire prepares crowds.
	prepareEvery = 8
	// prepareBudget is about how many nodes it visits then, which takes some tens of microseconds.
	prepareBudget = 256
	// prepareEach is the number of nodes it visits for each timer of a crowd that was just set.
	prepareEach = 8
	// crowd is how many timers make a slot worth preparing.
	crowd = 512
)

// prepare sorts or spreads crowds that are due soon, in small portions, so that no later timer takes long. Once a crowd
// may have been set, it does correspondingly more.
func (d *Driven[T]) prepare(now int64) {
	budget := prepareBudget
	if d.unseen >= crowd {
		budget = prepareEach * d.unseen
	} else if d.popped++; d.popped < prepareEvery {
		return
	}
	d.popped, d.unseen = 0, 0
	d.timers.DealAhead(now, budget)
}

// orders gives out orders and generations: ascending numbers that are unique in the process. So a handle of another
// wheel identifies nothing here.
type orders struct{ last, reserved uint64 }

// ordersGiven is the last number that was reserved so far.
var ordersGiven atomic.Uint64

// ordersAtOnce is how many numbers are reserved at a time.
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
