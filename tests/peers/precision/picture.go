package main

import (
	"bytes"
	"image/color"
	"os"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The picture is as narrow as a telephone, with the panels below each other, so
// that its letters are legible there too. All in points.
const (
	pictureWidth  = 390
	panelHeight   = 190
	titleHeight   = 30
	legendRow     = 17
	margin        = 8
	titleSize     = 16
	headingSize   = 13
	labelSize     = 11
	legendSwatch  = 40
	legendPadding = 4
)

// All panels have the same axes, so that they can be compared.
const (
	leastDrawn = 100 * time.Nanosecond
	mostDrawn  = 100 * time.Millisecond
)

// curveSteps is enough for a curve to look smooth; more would only make the file
// longer.
const curveSteps = 200

// strokes tell the curves apart, by the colours of Okabe and Ito, which the
// colour-blind can tell apart, and by their dashes.
var strokes = []draw.LineStyle{
	{Color: color.Black, Width: 2, Dashes: []vg.Length{6, 3}},
	{Color: color.RGBA{0xd5, 0x5e, 0x00, 0xff}, Width: 2, Dashes: []vg.Length{2, 2}},
	{Color: color.RGBA{0x00, 0x72, 0xb2, 0xff}, Width: 2},
	{Color: color.RGBA{0x56, 0xb4, 0xe9, 0xff}, Width: 2, Dashes: []vg.Length{10, 2}},
	{Color: color.RGBA{0x00, 0x9e, 0x73, 0xff}, Width: 2, Dashes: []vg.Length{10, 2, 2, 2}},
}

// drawPicture draws the distributions of all panels to a file of SVG.
func drawPicture(path string, panels []panel) error {
	plot.DefaultFont.Variant = "Sans"
	height := headHeight(panels) + vg.Length(panelHeight*len(panels)+2*margin)
	svg := vgsvg.New(pictureWidth, height)
	if err := paint(draw.New(svg), panels); err != nil {
		return err
	}
	return write(path, svg)
}

// headHeight is that of the title and the legend, which is one for all panels.
func headHeight(panels []panel) vg.Length {
	return vg.Length(titleHeight + legendRow*len(panels[0].curves))
}

func paint(c draw.Canvas, panels []panel) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c.FillText(titleStyle(), vg.Point{X: c.Min.X, Y: c.Max.Y}, "How late a lone timer fires")
	legend := newLegend()
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
	legend.Draw(draw.Crop(c, 0, 0, 0, -titleHeight))
	drawRows(rows, draw.Crop(c, 0, 0, 0, -headHeight(panels)))
	return nil
}

func newLegend() plot.Legend {
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.ThumbnailWidth, legend.Padding = legendSwatch, legendPadding
	legend.TextStyle.Font.Size = labelSize
	return legend
}

func titleStyle() text.Style {
	style := plot.New().Title.TextStyle
	style.Font.Size = titleSize
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	return style
}

func drawRows(rows [][]*plot.Plot, c draw.Canvas) {
	tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: margin}
	for i, row := range plot.Align(rows, tiles, c) {
		rows[i][0].Draw(row[0])
	}
}

// newPanel has the lines of its curves in their order.
func newPanel(p panel) (*plot.Plot, []*plotter.Line, error) {
	plotted := plot.New()
	plotted.Title.Text = p.load
	plotted.Title.TextStyle.Font.Size = headingSize
	plotted.Title.Padding = margin / 2
	setAxes(plotted)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xc0}, color.Gray{0xc0}
	plotted.Add(grid)
	var lines []*plotter.Line
	for i, c := range p.curves {
		line, err := plotter.NewLine(points(c.late))
		if err != nil {
			return nil, nil, err
		}
		line.LineStyle = strokes[i%len(strokes)]
		plotted.Add(line)
		lines = append(lines, line)
	}
	// Add has widened the axes to hold all of the curves.
	plotted.X.Min, plotted.X.Max = float64(leastDrawn), float64(mostDrawn)
	plotted.Y.Min, plotted.Y.Max = 0, 100
	return plotted, lines, nil
}

func setAxes(p *plot.Plot) {
	p.X.Label.Text, p.Y.Label.Text = "lateness (log scale)", "share of timers (%)"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = durationTicks{}, percentTicks
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding = 0
		axis.Label.TextStyle.Font.Size = labelSize
		axis.Tick.Label.Font.Size = labelSize
	}
}

// points is the curve of a distribution. What is left of the axis, which has no
// zero, is drawn at its left end.
func points(late []time.Duration) plotter.XYs {
	var xys plotter.XYs
	for _, s := range distribution(late, curveSteps) {
		xys = append(xys, plotter.XY{X: float64(max(s.value, leastDrawn)), Y: s.percent})
	}
	return xys
}

// write names other fonts for where there is none of the name that plot gives:
// telephones would take one with serifs, and of another width.
func write(path string, svg *vgsvg.Canvas) error {
	var text bytes.Buffer
	if _, err := svg.WriteTo(&text); err != nil {
		return err
	}
	const family = "font-family:Liberation Sans"
	fonts := bytes.ReplaceAll(text.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
	return os.WriteFile(path, fonts, 0o644)
}
