package main

import (
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/epicycle-go/epicycle/tests/peers/internal/chart"
)

// panelHeight is in points. The panels are drawn below each other.
const panelHeight = 190

// All panels have the same axes, so that they can be compared.
const (
	leastDrawn = 100 * time.Nanosecond
	mostDrawn  = 100 * time.Millisecond
)

// curveSteps is enough for a smooth curve. More steps would only make the file longer.
const curveSteps = 200

// percentTicks marks a percentage axis at every quarter.
var percentTicks = plot.ConstantTicks{
	{Value: 0, Label: "0"},
	{Value: 25, Label: "25"},
	{Value: 50, Label: "50"},
	{Value: 75, Label: "75"},
	{Value: 100, Label: "100"},
}

// drawPicture draws the distributions of all panels to an SVG file.
func drawPicture(path string, panels []panel) error {
	height := chart.TitleHeight + legendHeight(panels) + vg.Length(panelHeight*len(panels)+2*chart.Margin)
	return chart.Save(path, "How late a lone timer fires", height, func(c draw.Canvas) error {
		return paint(c, panels)
	})
}

// legendHeight returns the height of the legend that all panels share.
func legendHeight(panels []panel) vg.Length {
	return vg.Length(chart.LegendRow * len(panels[0].curves))
}

func paint(c draw.Canvas, panels []panel) error {
	legend := chart.NewLegend()
	var rows [][]*plot.Plot
	for i, p := range panels {
		plotted, lines, err := newPanel(p)
		if err != nil {
			return err
		}
		rows = append(rows, []*plot.Plot{plotted})
		for j, line := range lines {
			if i == 0 {
				legend.Add(p.curves[j].name, line)
			}
		}
	}
	legend.Draw(c)
	drawRows(rows, draw.Crop(c, 0, 0, 0, -legendHeight(panels)))
	return nil
}

func drawRows(rows [][]*plot.Plot, c draw.Canvas) {
	tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: chart.Margin}
	for i, row := range plot.Align(rows, tiles, c) {
		rows[i][0].Draw(row[0])
	}
}

// newPanel returns the plot, and the lines of its curves in order.
func newPanel(p panel) (*plot.Plot, []*plotter.Line, error) {
	plotted := chart.New()
	plotted.Title.Text = p.load
	plotted.X.Label.Text, plotted.Y.Label.Text = "lateness (log scale)", "share of timers (%)"
	plotted.X.Scale = plot.LogScale{}
	plotted.X.Tick.Marker, plotted.Y.Tick.Marker = chart.DurationTicks, percentTicks
	var lines []*plotter.Line
	for i, c := range p.curves {
		line, err := plotter.NewLine(points(c.late))
		if err != nil {
			return nil, nil, err
		}
		line.LineStyle = chart.Stroke(i)
		plotted.Add(line)
		lines = append(lines, line)
	}
	// Add has widened the axes to fit all curves.
	plotted.X.Min, plotted.X.Max = float64(leastDrawn), float64(mostDrawn)
	plotted.Y.Min, plotted.Y.Max = 0, 100
	return plotted, lines, nil
}

// points returns the curve of a distribution. The axis has no zero: values below its left
// end are drawn there.
func points(late []time.Duration) plotter.XYs {
	var xys plotter.XYs
	for _, s := range distribution(late, curveSteps) {
		xys = append(xys, plotter.XY{X: float64(max(s.value, leastDrawn)), Y: s.percent})
	}
	return xys
}
