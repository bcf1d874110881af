package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is both tables in Markdown, under a line that says what they are of.
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
				row = append(row, formatDuration(quantile(c.late, q)))
			}
			rows = append(rows, row)
		}
	}
	return table(rows)
}

// costTable has the medians over all turns, and the extremes: how far those are
// apart says how quiet the machine was.
func costTable(costs []cost) string {
	rows := [][]string{{
		"scenario", "implementation", "CPU per second", "least to most", "wake-ups per second", "CPU per wake-up",
	}}
	for _, c := range costs {
		cpu, wakeups := median(c.cpu), median(c.wakeups)
		each := "–"
		if wakeups > 0 {
			each = formatDuration(time.Duration(float64(cpu) / wakeups))
		}
		extent := formatDuration(slices.Min(c.cpu)) + " to " + formatDuration(slices.Max(c.cpu))
		rows = append(rows, []string{c.scenario, c.name, formatDuration(cpu), extent, formatRate(wakeups), each})
	}
	return table(rows)
}

// table writes rows in Markdown, the first one as the head. What a row has in
// common with the one above it, from the left, is written once.
func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		cells := slices.Clone(row)
		if i > 1 && row[0] == rows[i-1][0] {
			cells[0] = ""
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	return b.String()
}
