package main

import (
	"errors"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart"
)

const plotHeight = 300

// drawPictures draws to a directory every picture for which there are results.
func drawPictures(docs string, r results) error {
	for _, p := range []struct {
		family, file string
		draw         func(path string, r results) error
	}{
		{"SetStop", "performance-cost.svg", drawCost},
		{"Burst", "performance-burst.svg", drawBurst},
		{"Memory", "performance-memory.svg", drawMemory},
	} {
		if r.measured(p.family) {
			if err := p.draw(filepath.Join(docs, p.file), r); err != nil {
				return err
			}
		}
	}
	return nil
}

var errNoPoints = errors.New("there is nothing to draw")

func drawable(curves []curve) error {
	if len(curves) == 0 {
		return errNoPoints
	}
	return nil
}

// curve is a line of a picture with its label in the legend.
type curve struct {
	label  string
	stroke draw.LineStyle
	marked bool // whether each point has a mark
	points plotter.XYs
}

// page has the title and the labels of the axes.
type page struct {
	title, x, y string
}

// drawCurves draws a legend, and a plot with the curves below it.
func (p page) drawCurves(path string, plotted *plot.Plot, curves []curve) error {
	legend := chart.NewLegend()
	for _, c := range curves {
		line, marks, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return err
		}
		line.LineStyle = c.stroke
		marks.GlyphStyle = draw.GlyphStyle{Color: c.stroke.Color, Radius: 2.5, Shape: draw.CircleGlyph{}}
		plotted.Add(line)
		if c.marked {
			plotted.Add(marks)
		}
		legend.Add(c.label, line)
	}
	legendHeight := vg.Length(chart.LegendRow * len(curves))
	height := chart.TitleHeight + legendHeight + plotHeight + 2*chart.Margin
	return chart.Save(path, p.title, height, func(c draw.Canvas) error {
		legend.Draw(c)
		chart.DrawLabelled(draw.Crop(c, 0, 0, 0, -legendHeight), plotted, p.x, p.y)
		return nil
	})
}

// logarithmic makes both axes logarithmic.
func logarithmic(p *plot.Plot, x, y plot.Ticker) {
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = x, y
}

// limits returns the powers of ten that enclose a coordinate of all curves.
func limits(curves []curve, coordinate func(plotter.XY) float64) (least, most float64) {
	least, most = math.Inf(1), 0
	for _, c := range curves {
		for _, xy := range c.points {
			least, most = min(least, coordinate(xy)), max(most, coordinate(xy))
		}
	}
	return chart.Below(least), chart.Above(most)
}
