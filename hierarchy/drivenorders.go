package hierarchy

import "sync/atomic"

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
