package chart

import (
	"math"
	"time"

	"gonum.org/v1/plot"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// Decades marks a logarithmic axis: each power of ten with a label, and the multiples of the power without a label.
type Decades struct {
	Label func(power float64) string
}

// DurationTicks is for axes of nanoseconds, CountTicks for axes of numbers.
var (
	DurationTicks = Decades{func(ns float64) string { return figures.DurationTick(time.Duration(ns)) }}
	CountTicks    = Decades{func(n float64) string { return figures.CountTick(int(n)) }}
)

// Ticks implements plot.Ticker.
func (t Decades) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for decade := Below(least); decade <= most; decade *= 10 {
		for multiple := 1.0; multiple < 10; multiple++ {
			tick := plot.Tick{Value: multiple * decade}
			if multiple == 1 {
				tick.Label = t.Label(decade)
			}
			if least <= tick.Value && tick.Value <= most {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// Below returns the largest power of ten that is at most v. Above returns the smallest power of ten that is at least v.
func Below(v float64) float64 { return math.Pow10(int(math.Floor(math.Log10(v)))) }
func Above(v float64) float64 { return math.Pow10(int(math.Ceil(math.Log10(v)))) }
