package hierarchy

import "sync/atomic"

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
