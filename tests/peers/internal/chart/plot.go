package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LegendRow is the height of a row of a legend.
const LegendRow = 17

const (
	legendSwatch  = 40
	legendPadding = 4
)

// palette has the colours of Okabe and Ito, which colour-blind people can tell apart.
var palette = []color.Color{
	color.Black,
	color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	color.RGBA{0x00, 0x72, 0xb2, 0xff},
	color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff},
}

// dashes distinguish lines for readers who can't distinguish the colours.
var dashes = [][]vg.Length{{6, 3}, {2, 2}, nil, {10, 2}, {10, 2, 2, 2}, {4, 2, 1, 2}}

// Stroke returns the style of the i-th line.
func Stroke(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i%len(palette)], Width: 2, Dashes: dashes[i%len(dashes)]}
}

// New returns a plot with a grid and no gap before either axis.
func New() *plot.Plot {
	p := plot.New()
	p.Title.TextStyle.Font.Size = HeadingSize
	p.Title.Padding = Margin / 2
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding = 0
		axis.Label.TextStyle.Font.Size = LabelSize
		axis.Tick.Label.Font.Size = LabelSize
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xc0}, color.Gray{0xc0}
	p.Add(grid)
	return p
}

// NewLegend returns a legend for the top of a page.
func NewLegend() plot.Legend {
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.ThumbnailWidth, legend.Padding = legendSwatch, legendPadding
	legend.TextStyle.Font.Size = LabelSize
	return legend
}

// labelHeight is the height of an axis label, with the gap beside it.
const labelHeight = 18

// DrawLabelled draws a plot with the label of its vertical axis above it, where it is easier to read, and the label of
// its horizontal axis below. A plot that draws its own labels makes room for them in the wrong place if an axis is
// logarithmic.
func DrawLabelled(c draw.Canvas, p *plot.Plot, x, y string) {
	style := textStyle(LabelSize)
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, y)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y}, x)
	p.Draw(draw.Crop(c, 0, 0, labelHeight, -labelHeight))
}
