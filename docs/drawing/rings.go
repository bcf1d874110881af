package main

import (
	"fmt"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const gap = math.Pi / 5 // angle that each ring leaves free at its top, for the width of its slots as text

// drawRings draws circles around center, with the finest innermost.
func drawRings(c *canvas, center point, inner, step float64, circles []hierarchy.CircleStats) {
	for k, circle := range circles {
		from := inner + step*float64(k)
		r := ring{c, center, from, from + step*0.72, len(circle.Slots)}
		for s, n := range circle.Slots {
			r.slot(s, shade(n))
		}
		r.hand(circle.Hand)
		class := "name"
		if circle.Base {
			class = "base name"
		}
		c.text(point{center.x, center.y - (r.from+r.to)/2 + 4}, class, width(circle.Width))
	}
}

// shade returns how dark a slot with n timers is, from 0 to 5: one step for each factor of
// four.
func shade(n int) int {
	if n == 0 {
		return 0
	}
	return min(5, 1+int(math.Log2(float64(n))/2))
}

// width formats the width of a slot.
func width(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	case d < 2*time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.2g d", d.Hours()/24)
}

// ring is a drawn circle, with its slots clockwise from the gap at the top.
type ring struct {
	c        *canvas
	center   point
	from, to float64 // inner and outer radius
	slots    int
}

// angle returns the angle at which slot s begins. If s is not a whole number, the angle is inside a slot.
func (r ring) angle(s float64) float64 {
	return gap/2 + s/float64(r.slots)*(2*math.Pi-gap)
}

func (r ring) at(radius, slot float64) point {
	a := r.angle(slot)
	return point{r.center.x + radius*math.Sin(a), r.center.y - radius*math.Cos(a)}
}

func (r ring) slot(s, shade int) {
	begin, end := float64(s)+0.08, float64(s)+0.92
	r.c.sector(fmt.Sprintf("s%d", shade), r.from, r.to,
		r.at(r.from, begin), r.at(r.to, begin), r.at(r.to, end), r.at(r.from, end))
}

// hand draws a line across the slot under the hand.
func (r ring) hand(s int) {
	middle := float64(s) + 0.5
	r.c.line("hand", r.at(r.from-3, middle), r.at(r.to+3, middle))
}
