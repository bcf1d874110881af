package main

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// drawBurst draws the share of calls that took longer than a given time while many timers that were due at one instant
// ran.
func drawBurst(path string, r results) error {
	p := chart.New()
	logarithmic(p, sparseTicks, shareTicks)
	var curves []curve
	for _, n := range r.numbers("Burst", "time") {
		for i, impl := range burstImpls {
			b := benchmark{"Burst", impl, n}
			all := r.duration(b, "ms/burst", time.Millisecond)
			c := curve{label: labels[impl] + ": all ran within " + all, stroke: chart.Stroke(i), points: sharePoints(r, b)}
			if len(c.points) > 0 {
				curves = append(curves, c)
			}
		}
	}
	if err := drawable(curves); err != nil {
		return err
	}
	p.X.Min, p.X.Max = limits(curves, func(xy plotter.XY) float64 { return xy.X })
	p.Y.Min, p.Y.Max = leastShare, 1
	return page{
		title: "Set + stop while a crowd of timers fires",
		x:     "time a call took (log scale)", y: "share of calls that took longer (log scale)",
	}.drawCurves(path, p, curves)
}

// leastShare is one call in a million.
const leastShare = 1e-6

// sparseTicks omits every other label but keeps its grid line: there is no room for all
// labels from 10 ns to 10 s.
var sparseTicks = chart.Decades{Label: func(ns float64) string {
	if int(math.Round(math.Log10(ns)))%2 == 0 {
		return " "
	}
	return figures.DurationTick(time.Duration(ns))
}}

var shareTicks = chart.Decades{Label: func(share float64) string {
	return strconv.FormatFloat(share*100, 'g', 3, 64) + " %"
}}

// sharePoints ends with the longest call, whose share is one call of all.
func sharePoints(r results, b benchmark) plotter.XYs {
	var points plotter.XYs
	for unit := range r[b.String()] {
		share, ok := shareOf(unit)
		if ok {
			points = append(points, plotter.XY{X: drawnNanos(r.median(b, unit)), Y: share})
		}
	}
	if len(points) > 0 {
		last := max(leastShare, 1/r.median(b, "calls"))
		points = append(points, plotter.XY{X: drawnNanos(r.median(b, "call-max-µs")), Y: last})
	}
	slices.SortFunc(points, func(a, b plotter.XY) int {
		return cmp.Or(cmp.Compare(b.Y, a.Y), cmp.Compare(a.X, b.X))
	})
	// Medians of rounds with more and with fewer calls may cross.
	for i := 1; i < len(points); i++ {
		points[i].X = max(points[i].X, points[i-1].X)
	}
	return points
}

// drawnNanos returns at least 1, because the logarithmic axis has no zero.
func drawnNanos(micros float64) float64 { return max(1, 1000*micros) }

// shareOf parses the share out of a unit that reportCalls made.
func shareOf(unit string) (share float64, ok bool) {
	text, over := strings.CutPrefix(unit, "over-")
	text, micros := strings.CutSuffix(text, "-µs")
	share, err := strconv.ParseFloat(text, 64)
	return share, over && micros && err == nil
}
