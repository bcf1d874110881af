package main

import (
	"math"
	"strconv"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// nothing marks a figure that was not measured.
const nothing = "–"

// duration formats a median that was measured in unit.
func (r results) duration(b benchmark, name string, unit time.Duration) string {
	value := r.median(b, name)
	if math.IsNaN(value) {
		return nothing
	}
	return figures.Duration(time.Duration(value * float64(unit)))
}

// micros formats medians that were measured in microseconds.
func (r results) micros(b benchmark, names ...string) []string {
	var cells []string
	for _, name := range names {
		cells = append(cells, r.duration(b, name, time.Microsecond))
	}
	return cells
}

// count formats a median that is a number of things.
func (r results) count(b benchmark, name string) string {
	value := r.median(b, name)
	if math.IsNaN(value) {
		return nothing
	}
	return figures.Count(int(value))
}

func (r results) ratio(a, b benchmark, unit string) string {
	return formatRatio(r.median(a, unit) / r.median(b, unit))
}

func formatRatio(ratio float64) string {
	if math.IsNaN(ratio) {
		return nothing
	}
	return strconv.FormatFloat(ratio, 'f', 2, 64)
}
