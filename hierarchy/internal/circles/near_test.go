package circles

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nearExactly is how many of the live nodes are due by that time.
func nearExactly(c *Circles, live map[uint32]bool, until int64) (n int) {
	for i := range live {
		if c.arena.At(i).Key <= until {
			n++
		}
	}
	return n
}

// As long as there are no more than Near looks at, it is exact up to most, wherever they are and
// however they have moved.
func TestNearIsExactForFew(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := newCircles(time.Second)
		now, live := int64(0), map[uint32]bool{}
		for order := range uint64(400) {
			switch deadline := deadlineAfter(now, time.Duration(r.Int64N(1<<(1+r.IntN(40))))); {
			case len(live) < nearSample && r.IntN(2) == 0:
				live[c.Add(now, deadline, 1+order, 0)] = true
			case len(live) > 0 && r.IntN(2) == 0:
				for i := range live {
					c.Move(i, c.arena.At(i), now, deadline, 1+order)
					break
				}
			default:
				now += r.Int64N(1 << (1 + r.IntN(30)))
			}
			for _, i := range fire(t, c, now) {
				delete(live, i)
			}
			until, most := now+r.Int64N(1<<(1+r.IntN(40))), r.IntN(8)
			require.Equal(t, min(most+1, nearExactly(c, live, until)), min(most+1, c.Near(until, most)))
		}
	}
}

// A crowd at random deadlines is seen while it fires, whatever has been done to get it in order.
func TestNearSeesACrowd(t *testing.T) {
	for _, n := range []int64{20_000, 200_000} {
		c := newCircles(time.Second)
		const span = int64(time.Second)
		for i := range n {
			c.Add(0, span+i*7919%n*(span/n), uint64(i)+1, 0)
		}
		for now := int64(0); now < 2*span-20*int64(time.Millisecond); now += int64(time.Millisecond) {
			fire(t, c, now)
			if now > span {
				require.Greater(t, c.Near(now+int64(time.Millisecond), 4), 4)
			}
		}
	}
}
