package chart

import (
	"bytes"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A page is as narrow as a phone's screen, so that its text is legible there, too. Its
// parts stand below each other. All sizes are in points.
const (
	Width       = 390
	Margin      = 8
	TitleHeight = 30
	HeadingSize = 13
	LabelSize   = 11
	titleSize   = 16
)

// Package plot uses a sans-serif font from here on, as phones do.
func init() {
	plot.DefaultFont.Variant = "Sans"
	plotter.DefaultFont.Variant = "Sans"
}

// Save writes a page to an SVG file: its title, and below it the drawing of paint. height
// is the height of the whole page.
func Save(path, title string, height vg.Length, paint func(c draw.Canvas) error) error {
	svg := vgsvg.New(Width, height)
	c := draw.New(svg)
	c.SetColor(color.White)
	c.Fill(c.Path())
	c = draw.Crop(c, Margin, -Margin, Margin, -Margin)
	c.FillText(textStyle(titleSize), vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	if err := paint(draw.Crop(c, 0, 0, 0, -TitleHeight)); err != nil {
		return err
	}
	return write(path, svg)
}

// textStyle returns the style of text whose upper left corner is at a given point.
func textStyle(size vg.Length) text.Style {
	style := plot.New().Title.TextStyle
	style.Font.Size = size
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	return style
}

// write adds fonts for systems without the font that plot names. Without these fonts, phones would use a font with
// serifs and of another width.
func write(path string, svg *vgsvg.Canvas) error {
	var text bytes.Buffer
	if _, err := svg.WriteTo(&text); err != nil {
		return err
	}
	const family = "font-family:Liberation Sans"
	fonts := bytes.ReplaceAll(text.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
	return os.WriteFile(path, fonts, 0o644)
}
