package recipes

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// counter is a post office with one counter. Customers arrive at random times, wait in a
// line, and are served for random times.
type counter struct {
	clock  *clock.Mock
	wheel  *hierarchy.Wheel
	random *rand.Rand
	line   []time.Duration // when the waiting customers arrived
	served int
	waited time.Duration // by all customers together
}

const (
	betweenArrivals = 60 * time.Second // on average
	service         = 48 * time.Second // on average
)

// after calls f after a random time, exponentially distributed with the given mean.
func (c *counter) after(mean time.Duration, f func()) {
	_, _ = c.wheel.AfterFunc(time.Duration(c.random.ExpFloat64()*float64(mean)), f)
}

func (c *counter) arrive() {
	c.line = append(c.line, c.clock.Elapsed())
	if len(c.line) == 1 {
		c.serve()
	}
	c.after(betweenArrivals, c.arrive)
}

func (c *counter) serve() {
	c.waited += c.clock.Elapsed() - c.line[0]
	c.served++
	c.after(service, func() {
		if c.line = c.line[1:]; len(c.line) > 0 {
			c.serve()
		}
	})
}

func Example_simulation() {
	c := &counter{clock: clock.NewMock(), random: rand.New(rand.NewPCG(1, 2))}
	c.wheel, _ = hierarchy.New(hierarchy.Config{Clock: c.clock})
	defer c.wheel.Stop()
	c.after(betweenArrivals, c.arrive)

	c.clock.Add(30 * 24 * time.Hour) // a month

	fmt.Println(c.served, "served")
	fmt.Println("waited", (c.waited / time.Duration(c.served)).Round(time.Second), "on average")
	fmt.Println("theory says 3m12s") // 48 s × 0.8 / (1 - 0.8)
	// Output:
	// 42599 served
	// waited 3m6s on average
	// theory says 3m12s
}
