package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// report returns both tables in Markdown, below a line that names the platform.
func report(o options, panels []panel, costs []cost) string {
	about := fmt.Sprintf("%s on %s/%s with %d cores, %d timers per row of the first table.",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), o.timers)
	return about + "\n\n" + latenessTable(panels) + "\n" + costTable(costs)
}

func latenessTable(panels []panel) string {
	rows := [][]string{{"load", "implementation", "10 %", "median", "90 %", "99 %", "worst"}}
	for _, p := range panels {
		for _, c := range p.curves {
			row := []string{p.load, c.name}
			for _, q := range []float64{0.1, 0.5, 0.9, 0.99, 1} {
				row = append(row, figures.Duration(figures.Quantile(c.late, q)))
			}
			rows = append(rows, row)
		}
	}
	return figures.Table(rows)
}

// costTable shows the medians over all turns, and their range: a wide range means that the
// machine was not idle.
func costTable(costs []cost) string {
	rows := [][]string{{
		"scenario", "implementation", "CPU per second", "range", "wake-ups per second", "CPU per wake-up",
	}}
	for _, c := range costs {
		cpu, wakeups := figures.Median(c.cpu), figures.Median(c.wakeups)
		each := "–"
		if wakeups > 0 {
			each = figures.Duration(time.Duration(float64(cpu) / wakeups))
		}
		extent := figures.Duration(slices.Min(c.cpu)) + " to " + figures.Duration(slices.Max(c.cpu))
		rows = append(rows, []string{c.scenario, c.name, figures.Duration(cpu), extent, formatRate(wakeups), each})
	}
	return figures.Table(rows)
}

// formatRate formats a number of times per second, or a dash for zero.
func formatRate(perSecond float64) string {
	if perSecond == 0 {
		return "–"
	}
	return strconv.FormatFloat(perSecond, 'f', 0, 64)
}
