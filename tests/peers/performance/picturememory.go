package main

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart"
)

// In points.
const (
	barWidth  = 16
	barHeight = 28 // includes the gap to the next bar
	axisRoom  = 45
)

// drawMemory draws the memory of a pending timer, with the first bar on top.
func drawMemory(path string, r results) error {
	names, bytes := memoryBars(r)
	if len(bytes) == 0 {
		return errNoPoints
	}
	p := chart.New()
	p.X.Label.Text = "bytes per pending timer"
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, 1.15*slices.Max(bytes) // with room for the last figure
	if err := addBars(p, bytes); err != nil {
		return err
	}
	height := chart.TitleHeight + vg.Length(barHeight*len(bytes)+axisRoom+2*chart.Margin)
	return chart.Save(path, "Memory of a pending timer", height, func(c draw.Canvas) error {
		p.Draw(c)
		return nil
	})
}

// widerFonts makes room for names in fonts that are wider than the font with which plot measures.
const widerFonts = "   "

// memoryBars returns the bars in the order of the axis, from bottom to top.
func memoryBars(r results) (names []string, bytes plotter.Values) {
	for _, n := range r.numbers("Memory", "time") {
		for _, impl := range slices.Backward(memoryImpls) {
			if b := r.median(benchmark{"Memory", impl, n}, "B/timer"); !math.IsNaN(b) {
				names, bytes = append(names, labels[impl]+widerFonts), append(bytes, b)
			}
		}
	}
	return names, bytes
}

func addBars(p *plot.Plot, bytes plotter.Values) error {
	bars, err := plotter.NewBarChart(bytes, barWidth)
	if err != nil {
		return err
	}
	bars.Horizontal, bars.Color, bars.LineStyle.Width = true, chart.Stroke(2).Color, 0
	var ends plotter.XYLabels
	for i, b := range bytes {
		ends.XYs = append(ends.XYs, plotter.XY{X: b, Y: float64(i)})
		ends.Labels = append(ends.Labels, strconv.FormatFloat(b, 'f', 0, 64))
	}
	figures, err := plotter.NewLabels(ends)
	if err != nil {
		return err
	}
	for i := range figures.TextStyle {
		figures.TextStyle[i].Font.Size = chart.LabelSize
		figures.TextStyle[i].YAlign = draw.YCenter
		figures.TextStyle[i].Color = color.Black
	}
	figures.Offset.X = chart.Margin / 2
	most := p.X.Max
	p.Add(bars, figures)
	p.X.Min, p.X.Max = 0, most
	return nil
}
