package main

import (
	"fmt"
	"strings"
)

type point struct{ x, y float64 }

// canvas is an SVG image that follows the reader's choice of light or dark mode.
type canvas struct{ strings.Builder }

const style = `<style>
text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: #57606a }
.name { font-size: 10px }
.base { font-weight: bold; fill: #bc4c00 }
.caption { font-size: 13px }
.hand { stroke: #bc4c00; stroke-width: 2.5; stroke-linecap: round }
.s0 { fill: #eaeef2 } .s1 { fill: #b6d4f0 } .s2 { fill: #80b3e6 } .s3 { fill: #4a8fd4 } .s4 { fill: #2568b0 } .s5 { fill: #0a3f7c }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.base { fill: #f0883e }
.hand { stroke: #f0883e }
.s0 { fill: #21262d } .s1 { fill: #143d66 } .s2 { fill: #1f5c99 } .s3 { fill: #3a82c9 } .s4 { fill: #6bacec } .s5 { fill: #b5dbff }
}
</style>
`

func newCanvas(width, height int, description string) *canvas {
	c := new(canvas)
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n",
		width, height, description)
	c.WriteString(style)
	return c
}

func (c *canvas) String() string { return c.Builder.String() + "</svg>\n" }

func (c *canvas) text(at point, class, text string) {
	fmt.Fprintf(c, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, at.x, at.y, text)
}

func (c *canvas) line(class string, a, b point) {
	fmt.Fprintf(c, `<path class="%s" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", class, a.x, a.y, b.x, b.y)
}

// sector draws a part of a ring between two radii: from a out to b, along the outer arc to
// d, in to e, and back along the inner arc.
func (c *canvas) sector(class string, inner, outer float64, a, b, d, e point) {
	fmt.Fprintf(c, `<path class="%s" d="M%.1f %.1fL%.1f %.1fA%.1f %.1f 0 0 1 %.1f %.1fL%.1f %.1fA%.1f %.1f 0 0 0 %.1f %.1fZ"/>`+"\n",
		class, a.x, a.y, b.x, b.y, outer, outer, d.x, d.y, e.x, e.y, inner, inner, a.x, a.y)
}
