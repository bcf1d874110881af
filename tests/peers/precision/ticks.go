package main

import (
	"math"
	"time"

	"gonum.org/v1/plot"
)

// durationTicks marks a logarithmic axis of nanoseconds: each power of ten with
// a label, and what is between them without.
type durationTicks struct{}

func (durationTicks) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for decade := math.Pow10(int(math.Floor(math.Log10(least)))); decade <= most; decade *= 10 {
		for multiple := 1.0; multiple < 10; multiple++ {
			tick := plot.Tick{Value: multiple * decade}
			if multiple == 1 {
				tick.Label = formatTick(time.Duration(decade))
			}
			if least <= tick.Value && tick.Value <= most {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// percentTicks marks an axis of per cent at every quarter.
var percentTicks = plot.ConstantTicks{
	{Value: 0, Label: "0"},
	{Value: 25, Label: "25"},
	{Value: 50, Label: "50"},
	{Value: 75, Label: "75"},
	{Value: 100, Label: "100"},
}
