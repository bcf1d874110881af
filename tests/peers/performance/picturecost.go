package main

import (
	"gonum.org/v1/plot/plotter"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart"
)

// drawCost draws the cost of setting and stopping a timer over the number of timers pending.
func drawCost(path string, r results) error {
	p := chart.New()
	logarithmic(p, chart.CountTicks, chart.DurationTicks)
	var curves []curve
	for i, impl := range costImpls {
		c := curve{label: labels[impl], stroke: chart.Stroke(i), marked: true, points: costPoints(r, impl)}
		if len(c.points) > 0 {
			curves = append(curves, c)
		}
	}
	if err := drawable(curves); err != nil {
		return err
	}
	p.Y.Min, p.Y.Max = limits(curves, func(xy plotter.XY) float64 { return xy.Y })
	return page{
		title: "What it costs to set and stop a timer",
		x:     "timers pending (log scale)", y: "set + stop (log scale)",
	}.drawCurves(path, p, curves)
}

func costPoints(r results, impl string) plotter.XYs {
	var points plotter.XYs
	for _, n := range r.numbers("SetStop", impl) {
		if n == 0 {
			continue // a logarithmic axis has no zero
		}
		points = append(points, plotter.XY{
			X: float64(n), Y: r.median(benchmark{"SetStop", impl, n}, "ns/op"),
		})
	}
	return points
}
