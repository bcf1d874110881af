package hierarchy

import (
	"sync/atomic"
)

const (
	// prepareEvery is the number of timers after which Expire prepares crowds.
	prepareEvery = 8
	// prepareBudget is about how many nodes it goes through then, in some tens of microseconds.
	prepareBudget = 256
	// prepareEach is the same for each timer of a crowd that was set just now.
	prepareEach = 8
	// crowd is how many timers in a slot are worth preparing it.
	crowd = 512
)

// prepare sorts or spreads crowds whose time comes soon, in small portions, so that the timers
// after the next one need no long time. Once a crowd may have been set, it prepares about as much.
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

// orders gives out orders and generations: numbers that ascend, and that no one else in the
// process is given. So a handle of another wheel names nothing here.
type orders struct{ last, reserved uint64 }

// ordersGiven are those that were reserved so far.
var ordersGiven atomic.Uint64

// ordersAtOnce is how many are reserved at once.
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
